package serve

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func misspelt(t *testing.T, kind string) string {
	t.Helper()
	return strings.Replace(crdOf(t, kind, "10"), "x-kubernetes-validations", "x-kubernetes-validation", 1)
}

func TestServeRejectedAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), misspelt(t, "Alpha"))
	var out bytes.Buffer
	code := serveArgs(t.Context(), &out, []string{"serve", "--crd", dir, "--plain-http", "--listen", "127.0.0.1:0"})
	if code != command.Usage || !strings.Contains(out.String(), "an API server would reject it") || !strings.Contains(out.String(), "x-kubernetes-validation") {
		t.Errorf("exit code %d: %s", code, &out)
	}
	for _, args := range [][]string{{"--mode", "warn"}, {"--mode", "audit"}, {"--no-vet"}} {
		s := startServe(t, append(args, "--crd", dir, "--plain-http")...)
		if told := len(s.log.records("CRD in force that an API server would reject")) == 1; told != (args[0] == "--mode") {
			t.Errorf("%q: logged %t: %s", args, told, s.log)
		}
		if _, text := s.get("/metrics"); strings.Contains(text, "celadon_crds_refused 1") != (args[0] == "--mode") || !strings.Contains(text, "celadon_crds 1") {
			t.Errorf("%q: the metrics differ", args)
		}
	}
}

func TestServeRejectedLater(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"enforce", "warn"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.yaml"), crdOf(t, "Alpha", "10"))
		s := startServe(t, "--crd", dir, "--plain-http", "--mode", mode)
		replace(t, filepath.Join(dir, "a.yaml"), misspelt(t, "Alpha"))
		s.await("the change is seen", func() bool { return s.reloads() == 1 })
		if problems := s.log.records("CRD not changed"); len(problems) != 1 || !strings.Contains(problems[0]["error"].(string), "an API server would reject it") {
			t.Errorf("%s: %v", mode, problems)
		}
		if r := s.review("/validate", replicas("Alpha", "15")); r.Allowed != (mode == "warn") || r.Allowed != (len(r.Warnings) > 0) {
			t.Errorf("%s: the old CRD is not in force: %+v", mode, r)
		}
		if _, text := s.get("/metrics"); !strings.Contains(text, "celadon_crds_refused 1") || !strings.Contains(text, "celadon_crd_problems 1") {
			t.Errorf("%s: the metrics do not count it", mode)
		}
	}
}
