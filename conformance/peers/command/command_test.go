package command

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// TestMadeUp checks that the made-up CRDs accept the made-up objects without changes, except those that
// Files makes for rejection.
func TestMadeUp(t *testing.T) {
	t.Parallel()
	in, err := NewInput(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []*Kind{in.Routes, in.Pools} {
		e := compile(t, k.CRD)
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
		if allowed := validate(t, compile(t, in.Routes.CRD), object).Allowed; allowed != (i%rejectedIn != 0) {
			t.Errorf("%s: allowed %t", filepath.Base(file), allowed)
		}
	}
	if in.MostRules != in.Routes.CRD && in.MostRules != in.Pools.CRD {
		t.Errorf("the CRD with the most rules is %s", in.MostRules)
	}
}

func compile(t *testing.T, path string) *engine.Engine {
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

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		items []int64
		want  int64
	}{{[]int64{5}, 5}, {[]int64{3, 1, 2}, 2}, {[]int64{4, 1, 3, 2}, 3}, {[]int64{9, 9, 1, 1, 1}, 1}} {
		if got := Median(tt.items, func(n int64) int64 { return n }); got != tt.want {
			t.Errorf("%v: got %d, want %d", tt.items, got, tt.want)
		}
	}
}

func TestPeakMemory(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]int64{"Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 5 kB\n": 2 << 20, "Name:\tx\nState:\tZ (zombie)\n": 0, "": 0} {
		if got := peakMemory(status); got != want {
			t.Errorf("%q: got %d, want %d", status, got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	u := Usage{CPU: 3 * time.Second, Wall: 1500 * time.Millisecond, Memory: 64 << 20}
	if got := cpuPer(1000, time.Microsecond)(u); got != 3000 {
		t.Errorf("CPU per object: got %v, want 3000", got)
	}
	if got := wallSeconds(u); got != 1.5 {
		t.Errorf("run time: got %v, want 1.5", got)
	}
	if got := mebibytes(u); got != 64 {
		t.Errorf("memory: got %v, want 64", got)
	}
	for n, want := range map[int]string{7: "7", 999: "999", 1000: "1,000", 1_000_000: "1,000,000", 20_500: "20,500"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
