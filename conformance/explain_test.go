package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/publish"
)

var updateExplain = flag.Bool("update-explain", false, "record what kubectl explains")

// CELADON_KUBECTL names the kubectl binary; make -C conformance explain builds and runs it.
func TestExplainAsRecorded(t *testing.T) {
	kubectl := os.Getenv("CELADON_KUBECTL")
	if kubectl == "" {
		t.Skip("CELADON_KUBECTL names no kubectl")
	}
	s := startServer(t)
	files, err := filepath.Glob("../x/publish/testdata/*.txtar")
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
			if err := s.awaitPublished(t.Context(), crd); err != nil {
				t.Fatal(err)
			}
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

func TestExplainCorpus(t *testing.T) {
	kubectl := os.Getenv("CELADON_KUBECTL")
	if kubectl == "" {
		t.Skip("CELADON_KUBECTL names no kubectl")
	}
	sizes := vetSizes{crds: 40, ofProject: 2}
	if level.Long() {
		sizes = vetFull
	}
	files := crdFiles(t, sizes)
	s := startServer(t)
	report := NewReport("explain")
	for _, f := range files {
		s.holdExplain(t, kubectl, f, report)
	}
	finish(t, report)
}

func (s *Server) holdExplain(t *testing.T, kubectl string, f *crdFile, report *Report) {
	t.Helper()
	crd := f.crd.DeepCopy()
	if c := crd.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		crd.Spec.Conversion = nil
	}
	r, err := s.Serve(t.Context(), crd)
	if err != nil {
		report.Note("CRDs that the server refuses")
		return
	}
	defer remove(t, r)
	if err := s.awaitPublished(t.Context(), crd); err != nil {
		report.Error(f.id, err)
		return
	}
	host := s.front(t, crd.Spec.Group)
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			continue
		}
		apiVersion := crd.Spec.Group + "/" + v.Name
		leaf := crd.Spec.Names.Plural + leafOf(v.Schema.OpenAPIV3Schema)
		for _, ask := range []struct {
			name      string
			recursive bool
		}{{crd.Spec.Names.Plural, false}, {crd.Spec.Names.Plural, true}, {crd.Spec.Names.Plural + ".spec", false}, {leaf, false}} {
			args := []string{ask.name, "--api-version=" + apiVersion, fmt.Sprint("--recursive=", ask.recursive)}
			theirs := string(explainWith(t, kubectl, host, args))
			ours, err := explainOurs(crd, ask.name, apiVersion, ask.recursive)
			id := f.id + ": " + strings.Join(args, " ")
			rejected := regexp.MustCompile(`(?m)^error: (.*)$`).FindStringSubmatch(theirs)
			switch {
			case rejected != nil && err != nil && strings.HasPrefix(err.Error(), rejected[1]), rejected == nil && err == nil && ours == theirs:
				report.Add(id)
			case err != nil:
				report.Add(id, Difference{"celadon refuses in other words", err.Error() + "\n" + shorten(theirs, 400)})
			default:
				report.Add(id, Difference{"kubectl (-) and celadon (+) explain differently", shorten(cmp.Diff(theirs, ours), 2000)})
			}
		}
	}
}

// Separate controllers of the server update discovery and OpenAPI.
func (s *Server) awaitPublished(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	return wait.PollUntilContextTimeout(ctx, pollEvery, pollUntil, true, func(ctx context.Context) (bool, error) {
		for _, v := range crd.Spec.Versions {
			if !v.Served {
				continue
			}
			path, kind := "/apis/"+crd.Spec.Group, []byte(`"kind":"`+crd.Spec.Names.Kind+`"`)
			for where, want := range map[string][]byte{
				path: []byte(`"version":"` + v.Name + `"`), path + "/" + v.Name: kind, "/openapi/v3" + path + "/" + v.Name: kind,
			} {
				answer, err := s.do(ctx, http.MethodGet, where, nil)
				if err != nil || !bytes.Contains(answer.body, want) {
					return false, err
				}
			}
		}
		return true, nil
	})
}

func explainOurs(crd *apiextensionsv1.CustomResourceDefinition, name, apiVersion string, recursive bool) (string, error) {
	at, err := publish.Find([]*apiextensionsv1.CustomResourceDefinition{crd}, name, apiVersion)
	if err != nil {
		return "", err
	}
	return at.Explain(publish.Layout{Plain: true, Recursive: recursive})
}

// At each level, leafOf follows the last name that is valid in the command line of kubectl explain.
func leafOf(s *apiextensionsv1.JSONSchemaProps) string {
	path := ""
	for s != nil {
		last := ""
		for name := range s.Properties {
			if name > last && regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`).MatchString(name) && (path != "" || name != "metadata") {
				last = name
			}
		}
		if next, ok := s.Properties[last]; ok {
			path, s = path+"."+last, &next
			continue
		}
		switch {
		case s.Items != nil:
			s = s.Items.Schema
		case s.AdditionalProperties != nil:
			s = s.AdditionalProperties.Schema
		default:
			s = nil
		}
	}
	return path
}

// The comment of an archive is the path of the CRD from the root of the repository.
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

// The proxy requires no credentials, and serves the list of groups as an aggregator does, with only the
// given group.
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
