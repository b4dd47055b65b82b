package fix

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/vet"
)

func vetDocument(ctx context.Context, doc *input.Document) (*Vetted, error) {
	data, err := doc.JSON()
	if err != nil || doc.Object["kind"] != "CustomResourceDefinition" {
		return nil, nil
	}
	r, err := vet.Vet(ctx, data, vet.Config{})
	return &Vetted{Report: r}, err
}

func read(t *testing.T, f *Fixer, file string) {
	t.Helper()
	input.Scan(nil, []string{file}, func() {}, func(c input.Chunk) bool {
		return c.Each(func(doc *input.Document) bool {
			r, err := vetDocument(context.Background(), doc)
			if err != nil {
				t.Fatal(err)
			}
			if r != nil {
				err = f.Add(context.Background(), doc, r)
			}
			return err == nil
		})
	})
}

func TestFileChanged(t *testing.T) {
	t.Parallel()
	costly, err := os.ReadFile("../../../../../examples/costly/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	second := strings.ReplaceAll(string(costly), "gateway", "other")
	for name, c := range map[string]struct {
		then     string
		fixed    int
		rejected bool
	}{
		"not at all":           {string(costly), 1, false},
		"in another document":  {"# more\n" + string(costly) + "---\nkind: Other\n", 1, false}, // the vetted document is fixed
		"in the CRD":           {strings.Replace(string(costly), "unique", "Unique", 1), 0, true},
		"another CRD is there": {string(costly) + "---\n" + second, 0, true},
		"gone":                 {"", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "crd.yaml")
			if err := os.WriteFile(file, costly, 0o644); err != nil {
				t.Fatal(err)
			}
			var out, stderr bytes.Buffer
			f := New(Config{Vet: vetDocument, Out: &out, Err: &stderr})
			read(t, f, file)
			if err := os.WriteFile(file, []byte(c.then), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := f.End(context.Background()); err != nil {
				t.Fatal(err)
			}
			now, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if sum := f.Summary(); sum.Fixed != c.fixed || (sum.Failed > 0) != c.rejected || c.rejected != (string(now) == c.then) {
				t.Errorf("%+v, %s\n%s", sum, &stderr, now)
			}
		})
	}
}

func TestDiffIsForeign(t *testing.T) {
	t.Parallel()
	costly, err := os.ReadFile("../../../../../examples/costly/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "crd.yaml")
	text := strings.Replace(string(costly), "type: string\n", "type: string # \u202e\n", 1)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	f := New(Config{Vet: vetDocument, Out: &out, Err: &stderr})
	read(t, f, file)
	if err := f.End(context.Background()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "\u202e") || !strings.Contains(out.String(), `\u202e`) {
		t.Errorf("the diff: %q", &out)
	}
}
