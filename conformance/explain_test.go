package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

var updateExplain = flag.Bool("update-explain", false, "record what kubectl explains")

// TestExplainAsRecorded asks a real kubectl, named by CELADON_KUBECTL, of CRDs on
// the real server, and holds the answers that engine/publish is tested with to
// what it says. make explain builds kubectl and runs it.
func TestExplainAsRecorded(t *testing.T) {
	kubectl := os.Getenv("CELADON_KUBECTL")
	if kubectl == "" {
		t.Skip("CELADON_KUBECTL names no kubectl")
	}
	s := startServer(t)
	files, err := filepath.Glob("../engine/publish/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			crd := explainedCRD(t, archive)
			r, err := s.Serve(t.Context(), crd)
			if err != nil {
				t.Fatal(err)
			}
			defer remove(t, r)
			host := s.front(t, crd.Spec.Group)
			for i := range archive.Files {
				f := &archive.Files[i]
				got := explainWith(t, kubectl, host, strings.Fields(f.Name))
				if *updateExplain {
					f.Data = got
				} else if !bytes.Equal(got, f.Data) {
					t.Errorf("kubectl explain %s: recorded\n%s\nnow\n%s", f.Name, f.Data, got)
				}
			}
			if *updateExplain {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// explainedCRD is the CRD whose path, from the repository's root, an archive
// begins with.
func explainedCRD(t *testing.T, archive *txtar.Archive) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", strings.TrimSpace(string(archive.Comment))))
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func explainWith(t *testing.T, kubectl, host string, args []string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), kubectl, append([]string{"--server", host, "--cache-dir", t.TempDir(), "explain"}, args...)...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out
}

// front is an address at which the server answers without credentials, with the
// list of groups that an aggregator has before it: here one.
func (s *Server) front(t *testing.T, group string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/api", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, map[string]any{"kind": "APIVersions", "versions": []any{}})
	})
	mux.HandleFunc("/apis", func(w http.ResponseWriter, req *http.Request) {
		one, err := s.do(req.Context(), http.MethodGet, "/apis/"+group, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		answerJSON(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{json.RawMessage(one.body)}})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		one, err := s.do(req.Context(), req.Method, req.URL.RequestURI(), nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(one.code)
		_, _ = w.Write(one.body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
