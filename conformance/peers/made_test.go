package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

func TestMadeUp(t *testing.T) {
	t.Parallel()
	in, err := NewInput(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []*Kind{in.Routes, in.Pools} {
		e := compileFile(t, k.CRD)
		path, err := k.Lines(3)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n := 0
		for lines := bufio.NewScanner(f); lines.Scan(); n++ {
			if res := validate(t, e, lines.Bytes()); !res.Allowed || len(res.Warnings) > 0 {
				t.Errorf("%s: %v, warnings %v", lines.Text(), res.Causes, res.Warnings)
			}
		}
		if n != 3 {
			t.Errorf("%s: %d lines, want 3", k.Name, n)
		}
	}
	dir, err := in.Routes.Files(rejectedIn + 1)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) != rejectedIn+1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		object, err := yaml.YAMLToJSON(bytes.TrimPrefix(data, []byte("---\n")))
		if err != nil {
			t.Fatal(err)
		}
		if allowed := validate(t, compileFile(t, in.Routes.CRD), object).Allowed; allowed != (i%rejectedIn != 0) {
			t.Errorf("%s: allowed %t", filepath.Base(file), allowed)
		}
	}
	if in.MostRules != in.Routes.CRD && in.MostRules != in.Pools.CRD {
		t.Errorf("the CRD with the most rules is %s", in.MostRules)
	}
}

func compileFile(t *testing.T, path string) *engine.Engine {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func validate(t *testing.T, e *engine.Engine, object []byte) *engine.Result {
	t.Helper()
	obj, err := engine.Decode(object)
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Validate(context.Background(), engine.Request{Object: obj})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
