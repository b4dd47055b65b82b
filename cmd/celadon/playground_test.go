package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

type playgroundCase struct {
	CRD, Subresource  string
	Object, OldObject any
}

// TestAnswersOfCorpus checks that the playground's responses contain the command's output for cases of
// the corpus. CELADON_LEVEL=long takes 200 cases. With CELADON_ANSWERS, the requests and the
// command's output are written to that folder, one file each, for the page's own test.
func TestAnswersOfCorpus(t *testing.T) {
	t.Parallel()
	want := 12
	if level.Long() {
		want = 200
	}
	cases := playgroundCases(t)
	r := service.New()
	out := os.Getenv("CELADON_ANSWERS")
	every := max(1, len(cases)/want)
	for i := 0; i/every < want && i < len(cases); i += every {
		req := cases[i]
		answers := sameAsCommand(t, r, req)
		if out == "" {
			continue
		}
		text, err := json.Marshal(map[string]any{"question": req, "answers": answers})
		if err == nil {
			err = os.WriteFile(filepath.Join(out, fmt.Sprintf("%03d.json", i/every)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func playgroundCases(t *testing.T) (requests []service.Request) {
	t.Helper()
	for _, folder := range corpus.Folders(t) {
		files, _ := filepath.Glob(filepath.Join(folder, "cases", "*", "*.yaml"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range strings.Split(string(data), "\n---\n") {
				var c playgroundCase
				if yaml.Unmarshal([]byte(text), &c) != nil || c.CRD == "" || c.Object == nil {
					continue
				}
				crd, err := os.ReadFile(filepath.Join(folder, c.CRD))
				if err != nil {
					t.Fatal(err)
				}
				req := service.Request{CRD: string(crd), Object: caseYAML(t, c.Object)}
				if c.OldObject != nil {
					req.Old = caseYAML(t, c.OldObject)
					if c.Subresource == "status" {
						req.Subresource = c.Subresource
					}
				}
				requests = append(requests, req)
			}
		}
	}
	return requests
}

func caseYAML(t *testing.T, v any) string {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("../../examples", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, name := range []string{"certificate", "cluster", "database", "policy", "route", "widget"} {
		req := service.Request{CRD: read("playground/" + name + "/crd.yaml"), Object: read("playground/" + name + "/object.yaml")}
		sameAsCommand(t, service.New(), req)
		if old, err := os.ReadFile("../../examples/playground/" + name + "/old.yaml"); err == nil {
			req.Old, req.KubeVersion = string(old), "1.31"
			sameAsCommand(t, service.New(), req)
		}
	}
	sameAsCommand(t, service.New(), service.Request{CRD: read("crontab/crd.yaml"), Object: read("crontab/objects/bad.yaml"), Old: read("crontab/objects/good.yaml")})
	sameAsCommand(t, service.New(), service.Request{CRD: read("unguarded/crd.yaml"), Object: "{}\n---\na: {{ b }}\n"})
	sameAsCommand(t, service.New(), service.Request{CRD: "a: [", Object: read("crontab/objects/bad.yaml")})
}

func sameAsCommand(t *testing.T, r *service.Service, req service.Request) map[string]any {
	t.Helper()
	said := map[string]any{}
	dir := t.TempDir()
	for name, text := range map[string]string{service.CRDFile: req.CRD, service.ObjectFile: req.Object, service.OldFile: req.Old} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	crd, object, old := filepath.Join(dir, service.CRDFile), filepath.Join(dir, service.ObjectFile), filepath.Join(dir, service.OldFile)
	for do, args := range map[string][]string{
		"check": {"check", "--crd", crd, "--no-vet", "--verbose", "--summary", "-o", "json", object},
		"vet":   {"vet", "-o", "json", crd},
	} {
		if req.KubeVersion != "" {
			args = append(args, "--kube-version", req.KubeVersion)
		}
		if do == "check" && req.Subresource != "" {
			args = append(args, "--subresource", req.Subresource)
		}
		if do == "check" && req.Old != "" {
			args = append(args, "--old", old)
		}
		var out bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: io.Discard}
		a.run(t.Context(), args) // the report includes the verdict of the exit code
		want := unmarshalled(t, bytes.ReplaceAll(out.Bytes(), []byte(dir+"/"), nil))
		req.Do = do
		question, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		var reply struct {
			Value struct{ Report any }
			Error string
		}
		if err := json.Unmarshal(r.Answer(t.Context(), question), &reply); err != nil || reply.Error != "" {
			t.Fatalf("%s: %v %s", do, err, reply.Error)
		}
		if diff := cmp.Diff(want, reply.Value.Report); diff != "" {
			t.Errorf("%s (-command +answer): %s", do, diff)
		}
		said[do] = want
	}
	return said
}

func unmarshalled(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return v
}
