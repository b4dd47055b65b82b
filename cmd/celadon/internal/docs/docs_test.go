package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

// crdOf returns a CRD with a field whose name is fields letters long and that has as many fields.
func crdOf(plural string, fields int) *apiextensionsv1.CustomResourceDefinition {
	above := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for i := range fields {
		above.Properties[fmt.Sprint("f", i)] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	schema := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{strings.Repeat("a", fields): above}}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.ClusterScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: plural, Plural: plural},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
			}},
		},
	}
}

func TestDocsWithoutOnePage(t *testing.T) {
	t.Parallel()
	in, out := t.TempDir(), t.TempDir()
	for plural, fields := range map[string]int{"as": 1, "bs": 2000, "cs": 1} {
		data, err := json.Marshal(crdOf(plural, fields))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(in, plural+".json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		crds, out string
		files     []string
	}{
		{in, out, []string{"as.example.com.md", "cs.example.com.md"}},
		{filepath.Join(in, "bs.json"), "", nil},
	} {
		var stdout, stderr bytes.Buffer
		o := &DocsOptions{CRDs: []string{test.crds}, Output: "md", Out: test.out, Steps: 1}
		err := Docs(t.Context(), command.Streams{Stdout: &stdout, Stderr: &stderr}, o)
		if exit := new(command.ExitError); !errors.As(err, &exit) || exit.Code != command.Usage || exit.Err != nil {
			t.Errorf("%v, want exit code %d and nothing more to say", err, command.Usage)
		}
		if want := "celadon: bs.example.com: the output is longer than 16 MiB\n"; stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("stderr %q, want %q; stdout of %d bytes", &stderr, want, stdout.Len())
		}
		var files []string
		if test.out != "" {
			entries, err := os.ReadDir(test.out)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				files = append(files, e.Name())
			}
		}
		if !slices.Equal(files, test.files) {
			t.Errorf("wrote %q, want %q", files, test.files)
		}
	}
}

func TestDocsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var crds []*apiextensionsv1.CustomResourceDefinition
	for i := range 10 {
		crds = append(crds, crdOf(fmt.Sprint("p", i), 1))
	}
	_, err := (&DocsOptions{Output: "md", Steps: 1}).pages(ctx, command.Streams{Stderr: &bytes.Buffer{}}, crds)
	if err != context.Canceled {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if err := bug(ctx, crds[0], fmt.Errorf("vetting interrupted: %w", ctx.Err())); err != context.Canceled {
		t.Errorf("%v is a bug", err)
	}
}

// TestDocsTellsBugs passes a nil CRD, for which vet returns an internal error.
func TestDocsTellsBugs(t *testing.T) {
	t.Parallel()
	all, err := costs(t.Context(), nil)
	if err == nil {
		t.Fatalf("got %d costs without a CRD, want an error", len(all))
	}
	err = bug(t.Context(), crdOf("as", 1), err)
	if exit := new(command.ExitError); !errors.As(err, &exit) || exit.Code != command.Bug || !strings.HasPrefix(err.Error(), "as.example.com: internal error") {
		t.Errorf("%v, want exit code %d", err, command.Bug)
	}
}

func TestDocsPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic without options")
		}
	}()
	var o *DocsOptions
	_, _ = o.pages(t.Context(), command.Streams{Stderr: &bytes.Buffer{}}, []*apiextensionsv1.CustomResourceDefinition{crdOf("as", 1)})
}
