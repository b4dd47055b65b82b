package repl

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// disk is a Host with files in memory.
type disk map[string]string

func (d disk) load(path string) ([]Document, error) {
	text, ok := d[path]
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return []Document{{File: path, Line: 1, Text: []byte(text), JSON: data}}, nil
}

func (d disk) host() Host {
	return Host{
		Load: d.load,
		ReadText: func(path string) ([]byte, error) {
			text, ok := d[path]
			if !ok {
				return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
			}
			return []byte(text), nil
		},
		WriteText: func(path string, _, after []byte) error {
			d[path] = string(after)
			return nil
		},
		Stamp: func(path string) (string, error) { return d[path], nil },
	}
}

const diskCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: disks.example.com}
spec:
  group: example.com
  names: {kind: Disk, plural: disks}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
            x-kubernetes-validations:
            - rule: |-
                // the disks are small
                self.size <
                  10
              message: too large
`

const diskObject = `{apiVersion: example.com/v1, kind: Disk, metadata: {name: d}, spec: {size: 5}}`

func diskSession(t *testing.T) (*Session, disk) {
	t.Helper()
	d := disk{"crd.yaml": diskCRD, "obj.yaml": diskObject}
	s, err := NewSession(Config{Host: d.host()})
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, ":load crd crd.yaml")
	must(t, s, ":load object obj.yaml")
	return s, d
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := diskSession(t)
	wantText(t, s.Poll(ctx), "")
	wantText(t, must(t, s, ":watch"), "watching crd.yaml, obj.yaml\n")
	wantText(t, s.Poll(ctx), "")
	must(t, s, ":cd spec")
	must(t, s, ":pin small s.yaml")

	d["crd.yaml"] = strings.Replace(diskCRD, "10", "3", 1)
	wantText(t, s.Poll(ctx), `reloaded crd.yaml
d is rejected: spec: Invalid value: too large
pins: 0 of 1 pass
  fails now: small: want valid; got rejected: Disk.example.com "d" is invalid: spec: Invalid value: too large
`)
	wantText(t, s.Poll(ctx), "")
	wantText(t, s.Prompt(), "Disk/v1 spec> ")

	d["obj.yaml"] = strings.Replace(diskObject, "5", "1", 1)
	wantText(t, s.Poll(ctx), "reloaded obj.yaml\nd is accepted\n")

	d["crd.yaml"] = "a: ["
	if got := s.Poll(ctx); !strings.HasPrefix(got, "error: crd.yaml: ") {
		t.Errorf("a broken file: %s", got)
	}
	d["crd.yaml"] = diskCRD
	wantText(t, s.Poll(ctx), "reloaded crd.yaml\nd is accepted\npins: 1 test passes\n  passes again: small\n")

	must(t, s, ":set size = 2")
	d["obj.yaml"] = diskObject
	wantText(t, s.Poll(ctx), "error: obj.yaml has changed on disk, and has changes here: run :watch reload to discard those here\n")
	wantText(t, s.Poll(ctx), "")
	wantText(t, must(t, s, ":watch reload"), "reloaded crd.yaml, obj.yaml\nd is accepted\npins: 1 test passes\n")
	wantText(t, must(t, s, "self.size"), "5\n  : integer; cost 2; estimate 2, <0.1% of the limit\n")

	must(t, s, ":add self.size > 0")
	d["crd.yaml"] += "# more\n"
	if got := s.Poll(ctx); !strings.Contains(got, "crd.yaml has changed on disk, and has changes here") || len(s.rulesHere()) != 2 {
		t.Errorf("an unsaved rule: %s, %d rules", got, len(s.rulesHere()))
	}
	d["obj.yaml"] = strings.Replace(diskObject, "name: d", "name: other", 1)
	wantText(t, s.Poll(ctx), "error: obj.yaml: the object d is gone: its last form stays loaded\n")
	before := snapshot(s)
	reply := s.Do(ctx, ":watch reload")
	wantText(t, reply.Text, "error: obj.yaml: the object d is gone: its last form stays loaded\n")
	if diff := cmp.Diff(before, snapshot(s)); diff != "" {
		t.Errorf(":watch reload failed, but (-before +after)\n%s", diff)
	}
	must(t, s, ":watch off")
	d["obj.yaml"] = diskObject
	wantText(t, s.Poll(ctx), "")
}

// TestEditor checks that rules and objects that the user edits in an editor keep their line breaks.
func TestEditor(t *testing.T) {
	t.Parallel()
	s, _ := diskSession(t)
	var opened, result string
	s.host.EditText = func(_ context.Context, name string, text []byte) ([]byte, error) {
		opened = name + ": " + string(text)
		return []byte(result), nil
	}
	must(t, s, ":cd spec")
	result = "// the disks are small\nself.size <\n  11\n"
	must(t, s, ":edit 0")
	wantText(t, opened, "rule.cel: // the disks are small\nself.size <\n  10\n")
	wantText(t, strings.Split(must(t, s, ":diff"), "@@")[2], `
             - rule: |-
                 // the disks are small
                 self.size <
-                  10
+                  11
               message: too large
`)

	result = "self.size <\n  self.nope"
	if reply := s.Do(context.Background(), ":edit 0"); !reply.Failed || !strings.Contains(reply.Text, "undefined field 'nope'") {
		t.Errorf("a broken rule: %s", reply.Text)
	}
	result = "self.size < 12"
	must(t, s, ":edit 0")
	wantText(t, opened, "rule.cel: self.size <\n  self.nope\n") // the text that did not compile
	wantText(t, must(t, s, ":edit 0"), nothingChanged)

	must(t, s, "self.size + 1")
	result = "self.size +\n 2\n\n"
	wantText(t, must(t, s, ":edit"), "runs self.size + 2\n7\n  : integer; cost 3; estimate 3, <0.1% of the limit\n")
	wantText(t, opened, "expression.cel: self.size + 1\n")
	wantText(t, s.history[len(s.history)-1], "self.size +\n 2")

	result = "6\n"
	must(t, s, ":set size")
	wantText(t, opened, "object.yaml: 5\n")
	wantText(t, must(t, s, ":show"), "size: 6\n")
	result = strings.Replace(diskObject, "5", "8", 1)
	must(t, s, ":set /")
	wantText(t, must(t, s, ":show"), "size: 8\n")
	for _, bad := range []string{"", "a: [", "size: 1\nsize: 2", "[1]"} {
		result = bad
		if reply := s.Do(context.Background(), ":set /"); !reply.Failed {
			t.Errorf("%q: %s", bad, reply.Text)
		}
	}
	wantText(t, must(t, s, ":show"), "size: 8\n")
}

// TestReadProblem checks that the text of an error of Read has the reply to the line that failed.
func TestReadProblem(t *testing.T) {
	t.Parallel()
	s, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Read(t.Context(), "start.txt", []byte("1 + 1\n:cd spec\n2 + 2\n"), false)
	text := s.Problem(err)
	if !strings.HasPrefix(text, "2\n") || !strings.HasSuffix(text, "error: no CRD is loaded: run :load crd FILE\nerror: start.txt:2: stopped at this line\n") {
		t.Errorf("got %s", text)
	}
}

// TestWatchUnchanged checks that an object of a collection can be loaded again when its file changes.
func TestWatchUnchanged(t *testing.T) {
	t.Parallel()
	s, d := diskSession(t)
	s.host.Read = func(_ context.Context, paths []string, take func(*Input) error) error {
		for _, path := range paths {
			docs, err := d.load(path)
			if err != nil {
				return err
			}
			for _, doc := range docs {
				object, err := newObject(doc)
				if err != nil {
					return err
				}
				if err := take(&Input{File: path, Line: 1, Object: object.value}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	must(t, s, ":objects obj.yaml")
	must(t, s, ":object d")
	must(t, s, ":watch")
	d["obj.yaml"] = strings.Replace(diskObject, "5", "50", 1)
	wantText(t, s.Poll(t.Context()), "reloaded obj.yaml\nd is rejected: spec: Invalid value: too large\n")
}

// TestReadPins checks that the pinned suites run once after each line of a file that changes the CRD.
func TestReadPins(t *testing.T) {
	t.Parallel()
	s, d := diskSession(t)
	d["r.txt"] = ":cd spec\n:add self.size > 0\n"
	must(t, s, ":pin small s.yaml")
	if text := must(t, s, ":read r.txt"); strings.Count(text, "pins: 1 test passes") != 1 {
		t.Errorf("got %s", text)
	}
	must(t, s, ":mode json")
	text, err := s.json("", s.End(t.Context()))
	if err != nil || !strings.Contains(text, `"line":"","failed":true,"text":"there are unsaved rules`) {
		t.Errorf("at the end of input: %s, %v", text, err)
	}
}

// TestPinErrors checks that :pin explains why it cannot use a suite.
func TestPinErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"kind: RuleTest\napiVersion: celadon/v1\ntests: [\n":                                "error: s.yaml:3: did not find expected node content\n",
		"kind: RuleTest\napiVersion: celadon/v1\ncrd: crd.yaml\ntestz: []\n":                "error: s.yaml:4: suite: unknown key \"testz\": did you mean tests?\n",
		"kind: RuleTest\napiVersion: celadon/v1\nname: x\ncrd: other/crd.yaml\ntests: []\n": "error: s.yaml tests another CRD: other/crd.yaml: use another suite\n",
	} {
		s, d := diskSession(t)
		d["s.yaml"] = text
		wantText(t, s.Do(t.Context(), ":pin small s.yaml").Text, want)
		wantText(t, d["s.yaml"], text)
	}
}
