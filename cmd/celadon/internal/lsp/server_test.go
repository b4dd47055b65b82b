package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/jsonrpc"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func example(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func messages(list []protocol.Diagnostic) (lines []string) {
	for _, d := range list {
		first, _, _ := strings.Cut(d.Message, "\n")
		lines = append(lines, fmt.Sprintf("%d:%d-%d %s", d.Range.Start.Line+1, d.Range.Start.Character+1, d.Range.End.Character+1, first))
	}
	return lines
}

func wantLines(t *testing.T, got []protocol.Diagnostic, want ...string) {
	t.Helper()
	lines := messages(got)
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

const cronTab = "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata:\n  name: a\nspec:\n  schedule: 0 5 * * *\n  replicas: 1\n  maxReplicas: 10\n  image: a\n"

func TestObjectFollowsCRD(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	c := start(t, nil, map[string]string{"crds/crd.yaml": crd})
	wantLines(t, c.until("a.yaml", c.open("a.yaml", strings.Replace(cronTab, "replicas: 1", "replicas: 11", 1)), 1),
		"7:3-11 replicas is 11, more than maxReplicas: 10")
	seen := c.seen()
	c.open("crds/crd.yaml", strings.Replace(crd, "self.replicas <= self.maxReplicas", "self.replicas <= 10 + self.maxReplicas", 1))
	wantLines(t, c.next("a.yaml", seen))
	seen = c.seen()
	c.tell("textDocument/didClose", protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri("crds/crd.yaml")}})
	if got := c.next("a.yaml", seen); len(got) != 1 || len(got[0].Related) != 1 || !strings.HasSuffix(got[0].Related[0].Location.URI, "/crds/crd.yaml") {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(filepath.Join(c.dir, "crds/crd.yaml")); err != nil {
		t.Fatal(err)
	}
	seen = c.seen()
	c.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []map[string]any{{"uri": c.uri("crds/crd.yaml"), "type": 3}}})
	wantLines(t, c.next("a.yaml", seen))
}

func TestExpensiveRule(t *testing.T) {
	t.Parallel()
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.com}\nspec:\n  group: x.com\n  scope: Namespaced\n" +
		"  names: {plural: as, singular: a, kind: A, listKind: AList}\n  versions:\n"
	const version = "  - name: %s\n    served: true\n    storage: %v\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            type: object\n" +
		"            properties:\n              items: {type: array, items: {type: string}}\n              only-%[1]s: {type: string}\n            x-kubernetes-validations:\n            - rule: self.items.all(x, self.items.all(y, self.items.exists(z, z + y != x)))\n"
	for n, text := range []string{crd + fmt.Sprintf(version, "v1", true), crd + fmt.Sprintf(version, "v1", true) + fmt.Sprintf(version, "v2", false)} {
		errors := 0
		for _, d := range start(t, nil, nil).open("crd.yaml", text) {
			if d.Severity == protocol.Error {
				errors++
				t.Log(d.Range, d.Message)
			}
		}
		if errors != n+1 {
			t.Errorf("%d versions: %d errors, want one for each rule", n+1, errors)
		}
	}
}

func TestDroppedKey(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	const at = "            properties:\n"
	before, after, ok := strings.Cut(crd, at)
	if !ok {
		t.Fatalf("the CRD has no %q", at)
	}
	c := start(t, nil, nil)
	known := len(c.open("crd.yaml", crd))
	got := c.open("crd2.yaml", before+at+"              l:\n                type: array\n                maxItems: 3\n                items:\n                  type: string\n                  maxLenght: 3\n"+after)
	found := 0
	for _, d := range got {
		if strings.Contains(d.Message, "maxLenght") {
			found++
			if int(d.Range.Start.Line) != strings.Count(before, "\n")+6 {
				t.Errorf("at %v", d.Range)
			}
		}
	}
	if found != 1 || len(got) != known+1 {
		t.Errorf("got %q", messages(got))
	}
}

func TestSilent(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	c := start(t, nil, map[string]string{"crd.yaml": crd, "chart/Chart.yaml": "name: x\n", "chart/crds/x.yaml": "a: 1\n"})
	c.open("crd.yaml", crd)
	broken := strings.Replace(cronTab, "  replicas: 1", "  replicas: [", 1)
	for name, text := range map[string]string{
		"values.yaml": "a: b\n", "empty.yaml": "", "other.yaml": "apiVersion: example.org/v1\nkind: Pod\nspec: 7\n", "unread.yaml": "a: [\n",
		"template.yaml":          "apiVersion: stable.example.com/v1\nkind: CronTab\nspec:\n  replicas: {{ .Values.replicas }}\n",
		"chart/templates/a.yaml": strings.Replace(cronTab, "replicas: 1", "replicas: 11", 1),
		"patch.yaml":             "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: x\n  annotations: {a: b}\n",
		"kustomization.yaml":     "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a]\n",
		"a.go":                   "package a\n// +kubebuilder:validation:XValidation:rule=\"slef\"\ntype A struct{}\n",
		"list.json":              "[1, 2]", "notes.txt": "kind: CronTab\n\t- x\n", "nul.yaml": "\x00\xff",
	} {
		if got := c.open(name, text); len(got) > 0 {
			t.Errorf("%s: %v", name, messages(got))
		}
	}
	if got := c.open("broken.yaml", broken); len(got) != 1 || got[0].Code != "unreadable" {
		t.Errorf("%v", messages(got))
	}
	if got := c.open("mixed.yaml", "a: [\n---\n"+strings.Replace(cronTab, "replicas: 1", "replicas: 11", 1)); len(got) != 1 {
		t.Errorf("%v", messages(got))
	}
}

func TestBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testBurst)
}

func testBurst(t *testing.T) {
	crd := example(t, "crontab/crd.yaml")
	c := start(t, nil, nil)
	c.open("crd.yaml", crd)
	before := c.seen()
	at := find(t, crd, "self.replicas <= self.maxReplicas", false)
	for range 100 {
		c.send("crd.yaml", protocol.Change{Range: &protocol.Range{Start: at, End: at}, Text: "!"})
	}
	c.next("crd.yaml", before)
	time.Sleep(4 * quiet)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.published) - before; n > 3 {
		t.Errorf("%d rounds", n)
	}
	for i, p := range c.published[before:] {
		if i > 0 && *p.Version <= *c.published[before+i-1].Version {
			t.Errorf("version %d is published after %d", *p.Version, *c.published[before+i-1].Version)
		}
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "😀", "\n", "\r\n", "é", "\r", "", "b: c", "\t"}
	for round := range 200 {
		var parts []string
		for range r.IntN(20) {
			parts = append(parts, pieces[r.IntN(len(pieces))])
		}
		txt := newText(strings.Join(parts, ""))
		for range 10 {
			from := runeStart(txt.bytes, r.IntN(len(txt.bytes)+1))
			to := runeStart(txt.bytes, from+r.IntN(len(txt.bytes)-from+1))
			insert := pieces[r.IntN(len(pieces))]
			want := string(txt.bytes[:from]) + insert + string(txt.bytes[to:])
			if split := from > 0 && from < len(txt.bytes) && txt.bytes[from-1] == '\r' && txt.bytes[from] == '\n'; split {
				continue // there is no position within a line break
			}
			if split := to > 0 && to < len(txt.bytes) && txt.bytes[to-1] == '\r' && txt.bytes[to] == '\n'; split {
				continue
			}
			rng := protocol.Range{Start: counted(txt.bytes, from), End: counted(txt.bytes, to)}
			if got := txt.rangeOf(from, to); got != rng {
				t.Fatalf("round %d: %q %d-%d: %v, want %v", round, txt.bytes, from, to, got, rng)
			}
			next, err := txt.change(protocol.Change{Range: &rng, Text: insert})
			if err != nil || string(next.bytes) != want {
				t.Fatalf("round %d: %q %d-%d %q: %q, want %q (%v)", round, txt.bytes, from, to, insert, next.bytes, want, err)
			}
			txt = next
		}
	}
}

// counted returns the position of an offset, computed independently.
func counted(text []byte, offset int) protocol.Position {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(text[:offset])), "\n")
	return protocol.Position{Line: uint32(len(lines) - 1), Character: uint32(len(utf16.Encode([]rune(lines[len(lines)-1]))))}
}

func TestParent(t *testing.T) {
	t.Parallel()
	child := exec.Command(os.Args[0], "-test.run", "^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if gone(os.Getpid()) || !gone(child.Process.Pid) {
		t.Error("the ID of the ended process is unknown")
	}
	in, ask := io.Pipe()
	defer ask.Close()
	done := make(chan error, 1)
	go func() {
		done <- Run(context.Background(), command.Streams{Stdin: in, Stdout: io.Discard, Stderr: io.Discard}, &Options{})
	}()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":%d,"capabilities":{}}}`, child.Process.Pid)
	fmt.Fprintf(ask, "Content-Length: %d\r\n\r\n%s", len(body), body)
	body = `{"jsonrpc":"2.0","method":"initialized","params":{}}`
	fmt.Fprintf(ask, "Content-Length: %d\r\n\r\n%s", len(body), body)
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(hangs):
		t.Error("it outlives its parent")
	}
}

func TestAskedAtOnce(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	c := start(t, nil, nil)
	c.versions["crd.yaml"] = 1
	c.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": c.uri("crd.yaml"), "languageId": "yaml", "version": 1, "text": crd}})
	doc := protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri("crd.yaml")}}
	var hints []protocol.InlayHint
	c.ask("textDocument/inlayHint", doc, &hints)
	if len(hints) != 5 {
		t.Errorf("%+v", hints)
	}
	c.send("crd.yaml", protocol.Change{Text: "\n" + crd})
	c.ask("textDocument/inlayHint", doc, &hints)
	if len(hints) != 5 {
		t.Errorf("%+v", hints)
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	c := start(t, nil, nil)
	c.open("crd.yaml", crd)
	bad := strings.Replace(cronTab, "replicas: 1", "replicas: 11", 1)
	if got := c.open("a.yaml", bad); len(got) != 1 {
		t.Fatalf("%v", messages(got))
	}
	if got := c.change("crd.yaml", protocol.Change{Text: strings.Replace(crd, "rule: self", "rule: \"self", 1)}); len(got) != 1 || got[0].Code != "unreadable" {
		t.Errorf("%v", messages(got))
	}
	if got := c.change("a.yaml", protocol.Change{Text: bad + "\n"}); len(got) != 1 {
		t.Errorf("%v", messages(got))
	}
	if got := c.change("crd.yaml", protocol.Change{Text: "a: b\n"}); len(got) != 0 {
		t.Errorf("%v", messages(got))
	}
	if got := c.change("a.yaml", protocol.Change{Text: bad}); len(got) != 0 {
		t.Errorf("%v", messages(got))
	}
}

func runeStart(b []byte, i int) int {
	for i > 0 && i < len(b) && b[i]&0xC0 == 0x80 {
		i--
	}
	return i
}

func TestHarmless(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	c := start(t, nil, nil)
	c.open("crd.yaml", crd)
	c.open("other.yaml", "a: b\n")
	other := protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri("other.yaml")}}
	doc := protocol.Params{TextDocument: protocol.TextDocument{URI: c.uri("crd.yaml")}}
	for _, n := range []struct {
		method string
		params any
	}{
		{"workspace/didChangeConfiguration", map[string]any{"settings": map[string]any{"celadon": map[string]any{"kubeVersion": "7"}}}},
		{"workspace/didChangeConfiguration", map[string]any{"settings": nil}},
		{"workspace/didChangeConfiguration", 7}, {"$/setTrace", nil}, {"no/such", map[string]any{"a": 1}}, {"textDocument/didSave", doc},
		{"textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": "file:///no"}, "contentChanges": []any{}}},
		{"textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": c.uri("crd.yaml"), "version": 1}, "contentChanges": []any{map[string]any{"range": map[string]any{"start": map[string]any{"line": 9, "character": 9}, "end": map[string]any{"line": 0, "character": 0}}, "text": "x"}}}},
		{"textDocument/didClose", map[string]any{}}, {"textDocument/didOpen", []int{1}},
		{"workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": "file:///etc/passwd.yaml"}, map[string]any{"uri": "%zz"}}}},
		{"workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": []any{map[string]any{"uri": "file:///no/such"}}}}},
	} {
		c.tell(n.method, n.params)
		c.ask("textDocument/inlayHint", other, nil)
	}
	if got := c.change("crd.yaml", protocol.Change{Text: crd}); len(got) > 0 {
		t.Errorf("after the whole text: %v", messages(got))
	}
	for _, method := range []string{"hover", "completion", "signatureHelp", "definition", "inlayHint", "codeAction"} {
		c.ask("textDocument/"+method, c.at("crd.yaml", 4_000_000_000, 4_000_000_000), nil)
		c.ask("textDocument/"+method, c.at("no such", 0, 0), nil)
	}
	var e *jsonrpc.Error
	if err := c.conn.Call(context.Background(), "textDocument/nosuch", nil, nil); !errors.As(err, &e) || e.Code != -32601 {
		t.Error(err)
	}
	if err := c.conn.Call(context.Background(), "textDocument/hover", []int{1}, nil); !errors.As(err, &e) || e.Code != jsonrpc.InvalidParams {
		t.Error(err)
	}
	c.ask("shutdown", nil, nil)
	if err := c.conn.Call(context.Background(), "textDocument/hover", c.at("crd.yaml", 1, 1), nil); err == nil {
		t.Error("answers after shutdown")
	}
	c.tell("exit", nil)
	if err := <-c.done; err != nil {
		t.Error(err)
	}
	c.done <- nil
}

func TestHostileWorkspace(t *testing.T) {
	t.Parallel()
	crd := example(t, "crontab/crd.yaml")
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "crd.yaml"), []byte(crd), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{{outside, "linked"}, {filepath.Join(outside, "crd.yaml"), "linked.yaml"}, {".", "loop"}, {"/dev/zero", "zero.yaml"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if mkfifo, err := exec.LookPath("mkfifo"); err == nil {
		if err := exec.Command(mkfifo, filepath.Join(dir, "pipe.yaml")).Run(); err != nil {
			t.Fatal(err)
		}
	}
	deep := dir
	for range maxDepth + 3 {
		deep = filepath.Join(deep, "d")
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(deep, "crd.yaml"): crd, filepath.Join(dir, "bomb.yaml"): "kind: CustomResourceDefinition\na: &a [x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n",
		filepath.Join(dir, "go.mod"): "module x\n", filepath.Join(dir, "large.yaml"): "kind: CustomResourceDefinition # " + strings.Repeat("x", maxFile),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := serve(t, map[string]any{"trusted": true}, dir)
	bad := strings.Replace(cronTab, "replicas: 1", "replicas: 11", 1)
	if got := c.open("a.yaml", bad); len(got) > 0 {
		t.Errorf("a CRD out of the workspace is known: %v", messages(got))
	}
	seen := c.seen()
	c.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []map[string]any{{"uri": c.uri("linked.yaml")}, {"uri": c.uri("linked/crd.yaml")}, {"uri": fileURI(filepath.Join(outside, "crd.yaml"))}, {"uri": c.uri("pipe.yaml")}, {"uri": c.uri("zero.yaml")}}})
	c.send("a.yaml", protocol.Change{Text: bad + "\n"})
	if got := c.next("a.yaml", seen); len(got) > 0 {
		t.Errorf("a CRD out of the workspace is known: %v", messages(got))
	}
}

func TestHeap(t *testing.T) {
	edits := 600
	if level.Long() {
		edits = 10_000
	}
	crd := example(t, "crontab/crd.yaml")
	c := start(t, nil, nil)
	c.open("crd.yaml", crd)
	at := find(t, crd, "self.replicas <= ", true)
	burst := func(n int) uint64 {
		for i := range n {
			text, end := "x", at
			if i%2 == 1 {
				text, end = "", protocol.Position{Line: at.Line, Character: at.Character + 1}
			}
			seen := c.seen()
			c.send("crd.yaml", protocol.Change{Range: &protocol.Range{Start: at, End: end}, Text: text})
			if i%20 == 19 {
				c.next("crd.yaml", seen)
				c.ask("textDocument/completion", c.at("crd.yaml", int(at.Line), int(at.Character)), nil)
			}
		}
		c.mu.Lock()
		c.published = nil
		c.mu.Unlock()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := burst(200)
	after := burst(edits)
	t.Logf("%d KiB, then %d KiB", before>>10, after>>10)
	if after > before+2<<20 {
		t.Errorf("%d KiB after %d edits, %d before", after>>10, edits, before>>10)
	}
}

func FuzzSession(f *testing.F) {
	crd := example(f, "crontab/crd.yaml")
	f.Add("textDocument/hover", `{"textDocument":{"uri":"u"},"position":{"line":27,"character":26}}`, crd, uint16(700))
	f.Add("textDocument/completion", `{"textDocument":{"uri":"u"},"position":{"line":5,"character":6}}`, cronTab, uint16(60))
	f.Add("textDocument/codeAction", `{"textDocument":{"uri":"u"},"range":{"start":{"line":1},"end":{"line":2}}}`, crd, uint16(900))
	f.Add("textDocument/inlayHint", `{"textDocument":{"uri":"u"}}`, "kind: RuleTest\napiVersion: celadon/v1\n", uint16(3))
	f.Fuzz(func(t *testing.T, method, params, text string, cut uint16) {
		if method == "exit" || method == "" || !json.Valid([]byte(params)) {
			return
		}
		c := start(t, nil, nil)
		c.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": "u", "version": 1, "text": text}})
		c.tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": "u", "version": 2}, "contentChanges": []any{map[string]any{"text": text[:min(len(text), int(cut))]}}})
		var e *jsonrpc.Error
		if err := c.conn.Call(context.Background(), method, json.RawMessage(params), nil); err != nil && (!errors.As(err, &e) || strings.Contains(e.Message, "internal error in celadon")) {
			t.Error(err)
		}
		for _, m := range []string{"hover", "completion", "signatureHelp", "definition", "inlayHint", "codeAction"} {
			at := newText(text).position(int(cut))
			p := map[string]any{"textDocument": map[string]any{"uri": "u"}, "position": at, "range": protocol.Range{Start: at, End: at}}
			if err := c.conn.Call(context.Background(), "textDocument/"+m, p, nil); err != nil && (!errors.As(err, &e) || strings.Contains(e.Message, "internal error in celadon")) {
				t.Error(m, err)
			}
		}
	})
}
