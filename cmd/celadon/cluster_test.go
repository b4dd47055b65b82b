package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/clustertest"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func exampleCluster(t *testing.T) *clustertest.Server {
	t.Helper()
	var items []string
	for _, object := range exampleObjects(t) {
		object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": "m"}}
		item, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, string(item))
	}
	s := clustertest.Start(t)
	s.Define(t, readFile(t, crontabCRD), len(items), func(i int) string { return items[i] })
	t.Setenv("KUBECONFIG", s.Kubeconfig(t))
	return s
}

func exampleObjects(t *testing.T) (objects []map[string]any) {
	t.Helper()
	for _, file := range []string{"bad.yaml", "good.yaml"} {
		for doc := range strings.SplitSeq(string(readFile(t, "../../examples/crontab/objects/"+file)), "\n---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
				t.Fatal(err)
			}
			object["metadata"].(map[string]any)["namespace"] = "default"
			objects = append(objects, object)
		}
	}
	return objects
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func ran(ctx context.Context, stdin string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	a := &app{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs}
	code = a.run(ctx, args)
	return out.String(), errs.String(), code
}

func kubectlList(t *testing.T, items ...map[string]any) string {
	t.Helper()
	text, err := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// placeless matches the positions in a JSON report, which depend on the source.
var placeless = regexp.MustCompile(`,?\s*"(file|document|item|line|column)": ("[^"]*"|\d+),?`)

func TestClusterReport(t *testing.T) {
	exampleCluster(t)
	var crd map[string]any
	if err := yaml.Unmarshal(readFile(t, crontabCRD), &crd); err != nil {
		t.Fatal(err)
	}
	crd["metadata"].(map[string]any)["uid"] = "u"
	crds := filepath.Join(t.TempDir(), "crds.json")
	if err := os.WriteFile(crds, []byte(kubectlList(t, crd)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--persisted"}, {"-v"}, {"--summary"}, {"--field-selector", "metadata.name=nightly"}} {
		args := append([]string{"check", "-o", "json", "--kube-version", "1.37"}, flags...)
		live, complaint, code := ran(t.Context(), "", append(args, "--cluster", "-A")...)
		want, _, wantCode := ran(t.Context(), kubectlList(t, exampleObjects(t)...), append(args, "--crd", crds, "-")...)
		if diff := cmp.Diff(placeless.ReplaceAllString(want, ""), placeless.ReplaceAllString(live, "")); diff != "" || code != wantCode || code == command.Usage {
			t.Errorf("%v: exit code %d, want %d (-kubectl +cluster) %s\n%s", flags, code, wantCode, complaint, diff)
		}
	}
}

func TestClusterUpgrade(t *testing.T) {
	exampleCluster(t)
	const next = "../../examples/crontab-next/crd.yaml"
	live, _, code := ran(t.Context(), "", "check", "--cluster", "-A", "--crd", next, "-o", "json", "--kube-version", "1.37")
	want, _, wantCode := ran(t.Context(), "", "check", "--crd", next, "--crd-old", crontabCRD, "-o", "json", "../../examples/crontab/objects")
	if !strings.Contains(want, `"upgrade"`) || code != wantCode {
		t.Errorf("exit codes %d and %d: %s", code, wantCode, want)
	}
	namespaces := regexp.MustCompile(`"namespace": "[^"]*",?\s*`)
	if diff := cmp.Diff(namespaces.ReplaceAllString(placeless.ReplaceAllString(want, ""), ""), namespaces.ReplaceAllString(placeless.ReplaceAllString(live, ""), "")); diff != "" {
		t.Errorf("-files +cluster\n%s", diff)
	}
	out, complaint, code := ran(t.Context(), "", "diff", "--cluster", "-A", next)
	if code != command.Findings || !strings.Contains(out, "crontabs.stable.example.com/default/") {
		t.Errorf("diff: exit code %d\n%s%s", code, out, complaint)
	}
}

func TestClusterShell(t *testing.T) {
	s := exampleCluster(t)
	out, complaint, code := ran(t.Context(), "", "eval", "--cluster", "--object", "CronTab/nightly", "self.metadata.name")
	if out != "\"nightly\"\n" || code != 0 {
		t.Errorf("eval: exit code %d, %q, %q", code, out, complaint)
	}
	out, complaint, code = ran(t.Context(), ":add true\n:save\n", "repl", "--cluster", "--object", "CronTab/nightly", "--namespace", "other", "--no-history")
	if code != 0 || !strings.Contains(out, "the CRD was not read from a file: use :save FILE") {
		t.Errorf("repl: exit code %d\n%s%s", code, out, complaint)
	}
	if asked := strings.Join(s.Requests(), "\n"); !strings.Contains(asked, "/namespaces/default/crontabs/nightly") || !strings.Contains(asked, "/namespaces/other/crontabs/nightly") {
		t.Errorf("got requests for\n%s", asked)
	}
}

func TestClusterShellVersion(t *testing.T) {
	s := exampleCluster(t)
	s.Minor = "29"
	for _, source := range [][]string{{"--object", "CronTab/nightly"}, {"--crd", crontabCRD, "-A"}} {
		args := append([]string{"eval", "--cluster"}, source...)
		_, complaint, code := ran(t.Context(), "", append(args, "ip('10.0.0.1').family()")...)
		if code != command.Usage || !strings.Contains(complaint, "not in new rules for 1.29") {
			t.Errorf("%s: exit code %d, %s", source, code, complaint)
		}
	}
}

func TestClusterManyObjects(t *testing.T) {
	exampleCluster(t)
	live, complaint, _ := ran(t.Context(), "", "eval", "--cluster", "-A", "--crd", crontabCRD, "self.metadata.name")
	want, _, _ := ran(t.Context(), kubectlList(t, exampleObjects(t)...), "eval", "--crd", crontabCRD, "--object", "-", "self.metadata.name")
	if live != want || strings.Count(live, "\n") < 2 {
		t.Errorf("eval: got %q, want %q: %s", live, want, complaint)
	}
}

func TestClusterFlags(t *testing.T) {
	for line, want := range map[string]string{
		"check --cluster x.yaml":                  "do not name OBJECTS",
		"check --cluster --old x":                 "do not set --old",
		"check --cluster --watch":                 "--watch",
		"check --context a --crd . y":             "--context: use it with --cluster",
		"check -n a --crd . y":                    "--namespace: use it with --cluster",
		"check -l a=b --crd . y":                  "--selector: use it with --cluster",
		"check --cluster -n ../a":                 `--namespace "../a"`,
		"check --cluster -l ===":                  `--selector "==="`,
		"check --cluster --crd x -o yaml":         "--cluster --crd: compares two persisted objects",
		"diff --cluster --base a x":               "do not set --base",
		"diff --cluster --objects a x":            "do not set --base or --objects",
		"diff --cluster":                          "no CRDs given",
		"eval --cluster true":                     "--cluster: use --object KIND/NAME",
		"eval --cluster --object a --name b true": "--name",
		"repl --context a":                        "--context: use it with --cluster",
	} {
		if _, stderr, code := ran(t.Context(), "", strings.Fields(line)...); code != command.Usage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s", line, code, stderr)
		}
	}
}

func TestClusterForbidden(t *testing.T) {
	s := exampleCluster(t)
	s.Define(t, []byte(attackCRD), 1, func(int) string {
		return `{"apiVersion":"g.io/v1","kind":"T","metadata":{"name":"a","namespace":"d"},"spec":{}}`
	})
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/crontabs") {
			return false
		}
		clustertest.Fail(w, 403, "Forbidden", `crontabs.stable.example.com is forbidden: User "u" cannot list`)
		return true
	}
	out, _, code := ran(t.Context(), "", "check", "--cluster", "-A")
	if code != command.Usage || !strings.Contains(out, `crontabs.stable.example.com: not read, because of missing permission to list it: crontabs.stable.example.com is forbidden: User "u" cannot list`) || !strings.Contains(out, "1 object checked: 1 valid") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestClusterNoFile(t *testing.T) {
	s := exampleCluster(t)
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/crontabs") {
			return false
		}
		clustertest.Fail(w, 403, "Forbidden", "no")
		return true
	}
	cmd := exec.CommandContext(t.Context(), "celadon", "check", "--cluster", "-A")
	cmd.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(cmd.Dir, "crontabs.stable.example.com"), []byte("{{ a }}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := cmd.CombinedOutput(); !bytes.Contains(out, []byte("not read, because of missing permission")) || bytes.Contains(out, []byte("Helm")) {
		t.Errorf("%s", out)
	}
}

func TestClusterBadCRD(t *testing.T) {
	const next = "../../examples/crontab-next/crd.yaml"
	for name, needed := range map[string]bool{"crontabs.stable.example.com": true, "others.g.io": false} {
		s := exampleCluster(t)
		good := s.CRDs()[0]
		if needed {
			good = `{"metadata":{"name":"a.g.io","uid":"u"},"spec":{}}`
		}
		s.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/customresourcedefinitions") {
				return false
			}
			fmt.Fprintf(w, `{"items":[%s,{"metadata":{"name":%q,"uid":"u"},"spec":{"x":[1%s]}}]}`, good, name, strings.Repeat(",1", 1<<20))
			return true
		}
		for _, args := range [][]string{{"diff", "--cluster", "-A", next}, {"check", "--cluster", "-A", "--crd", next}} {
			out, stderr, code := ran(t.Context(), "", args...)
			if (code == command.Usage) != needed || needed && !strings.Contains(stderr, "customresourcedefinitions.apiextensions.k8s.io/"+name+":1: the server's response is not an object: more than") {
				t.Errorf("%v with a bad %s: exit code %d\n%s%.300s", args, name, code, stderr, out)
			}
		}
	}
}

func TestClusterUpdate(t *testing.T) {
	exampleCluster(t)
	text := strings.Replace(string(readFile(t, "../../examples/crontab-next/crd.yaml")), "scope: Namespaced", "scope: Cluster", 1)
	text = strings.Replace(text, "metadata:\n", "metadata:\n  uid: of-staging\n", 1)
	next := filepath.Join(t.TempDir(), "next.yaml")
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, code := ran(t.Context(), "", "check", "--cluster", "-A", "--crd", next, "-q"); code != command.Findings || !strings.Contains(out, "spec.scope: Invalid value: \"Cluster\": field is immutable") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestClusterOld(t *testing.T) {
	s := exampleCluster(t)
	s.Minor = "29"
	const next = "../../examples/crontab-next/crd.yaml"
	var checked, compared struct {
		Summary struct {
			Upgrade, Objects struct {
				RejectedOnCreate int `json:"refusedOnCreate"`
				RejectedOnUpdate int `json:"refusedOnUpdate"`
				Ratcheted        int
			}
		}
	}
	out, _, _ := ran(t.Context(), "", "check", "--cluster", "-A", "--crd", next, "-o", "json")
	err := json.Unmarshal([]byte(out), &checked)
	more, told, _ := ran(t.Context(), "", "diff", "--cluster", "-A", next, "-o", "json")
	if err2 := json.Unmarshal([]byte(more), &compared); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if u := checked.Summary.Upgrade; u != compared.Summary.Objects || u.RejectedOnCreate == 0 {
		t.Errorf("check %+v, diff %+v", u, compared.Summary.Objects)
	}
	if u := checked.Summary.Upgrade; u.Ratcheted > 0 || u.RejectedOnUpdate == 0 { // no ratcheting before 1.30
		t.Errorf("%+v", u)
	}
	if strings.Contains(told, "1.37") {
		t.Error(told)
	}
}

type cancelingWriter struct {
	bytes.Buffer
	lines  int
	cancel func()
}

func (w *cancelingWriter) Write(p []byte) (int, error) {
	if w.lines -= bytes.Count(p, []byte("\n")); w.lines <= 0 {
		w.cancel()
	}
	return w.Buffer.Write(p)
}

func TestClusterInterrupted(t *testing.T) {
	s := clustertest.Start(t)
	s.Define(t, []byte(attackCRD), 2000, func(i int) string {
		return fmt.Sprintf(`{"apiVersion":"g.io/v1","kind":"T","metadata":{"name":"n%04d","namespace":"d"},"spec":{}}`, i)
	})
	t.Setenv("KUBECONFIG", s.Kubeconfig(t))
	for where, checked := range map[string]int{"continue=1000": 1000, "/customresourcedefinitions": 0, "/version": 0} {
		ctx, cancel := context.WithCancel(t.Context())
		s.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.String(), where) {
				return false
			}
			if checked == 0 {
				cancel()
			}
			<-r.Context().Done()
			return true
		}
		out := &cancelingWriter{lines: 1000, cancel: cancel}
		var stderr bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: out, stderr: &stderr}
		code := a.run(ctx, []string{"check", "--cluster", "-A", "--verbose", "-o", "jsonl"})
		text := out.String()
		if code != command.Interrupted || !strings.Contains(text, fmt.Sprintf(`"checked":%d,`, checked)) || !strings.Contains(text, `"interrupted":true`) || !strings.Contains(stderr.String(), "interrupted: the report covers only the objects before") {
			t.Errorf("%s: exit code %d, …%s\n%s", where, code, text[max(0, len(text)-1000):], &stderr)
		}
	}
}

func TestClusterTree(t *testing.T) {
	exampleCluster(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"check: {cluster: true}":     "cluster: no such setting",
		"check: {context: prod}":     "context: no such setting",
		"eval: {cluster: true}":      "cluster: no such setting",
		"repl: {namespace: default}": "namespace: no such setting",
		"diff: {selector: a}":        "selector: no such setting",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".celadon.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		command, _, _ := strings.Cut(text, ":")
		for _, config := range []string{"", "--config=" + filepath.Join(dir, ".celadon.yaml")} {
			args := []string{command, "--crd", root + "/examples/crontab/crd.yaml", "true"}
			switch command {
			case "diff":
				args = []string{command, "a", "b"}
			case "repl":
				args = []string{command}
			}
			if config != "" {
				args = append(args, config)
			}
			cmd := exec.CommandContext(t.Context(), "celadon", args...)
			cmd.Dir = dir
			if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), want) {
				t.Errorf("%s %s: %s", text, config, out)
			}
		}
	}
	// With --cluster, settings from the tree do not apply.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".celadon.yaml"), []byte("check: {crd: [crd.yaml], objects: [a], kube-version: \"1.28\"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "celadon", "check", "--cluster", "-A")
	cmd.Dir = dir
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "as Kubernetes 1.37: 1 kind") {
		t.Errorf("%s", out)
	}
}

// quietCommands lists command lines that must not open a connection.
var quietCommands = [][]string{
	{"check", "--crd", "examples/crontab/crd.yaml", "examples/crontab/objects"},
	{"vet", "examples/crontab/crd.yaml"},
	{"diff", "examples/crontab/crd.yaml", "examples/crontab-next/crd.yaml"},
	{"eval", "--crd", "examples/crontab/crd.yaml", "1 + 1"},
	{"repl", "--crd", "examples/crontab/crd.yaml", "--no-history"},
	{"__complete", "check", "--cluster", "-A", "--context", ""},
	{"version"},
}

// If strace is installed, TestAttackNoSocket checks that no socket is created.
func TestAttackNoSocket(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	called := make(chan struct{}, 1)
	go func() {
		if _, err := listener.Accept(); err == nil {
			called <- struct{}{}
		}
	}()
	config := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"x","clusters":[{"name":"c","cluster":{"server":"http://%s"}}],
"users":[{"name":"u","user":{}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}]}`, listener.Addr())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	strace, straceErr := exec.LookPath("strace")
	if straceErr != nil {
		if t.Log("strace is missing: the test only checks that no server is called"); level.Long() {
			t.Error("want strace")
		}
	}
	celadon, err := exec.LookPath("celadon")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range quietCommands {
		trace := filepath.Join(t.TempDir(), "trace")
		cmd := exec.CommandContext(t.Context(), celadon, args...)
		if straceErr == nil {
			cmd = exec.CommandContext(t.Context(), strace, append([]string{"-f", "-qq", "-e", "trace=%network", "-e", "signal=none", "-o", trace, celadon}, args...)...)
		}
		cmd.Dir, cmd.Env = "../..", append(os.Environ(), "KUBECONFIG="+config, "KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT=1")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		if straceErr == nil {
			if calls := readFile(t, trace); bytes.Contains(calls, []byte("socket(")) || bytes.Contains(calls, []byte("connect(")) {
				t.Errorf("%v: %s", args, calls)
			}
		}
	}
	select {
	case <-called:
		t.Error("the server was called")
	default:
	}
}
