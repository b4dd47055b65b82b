package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestReusedMemory checks accepted and rejected objects in one stream. Their memory is reused unless the
// report contains the persisted objects, and the verdicts must be the same.
func TestReusedMemory(t *testing.T) {
	t.Parallel()
	for name, marshal := range map[string]func(any) ([]byte, error){"objects.json": json.Marshal, "objects.yaml": separateYAML} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testReusedMemory(t, name, marshal)
		})
	}
}

// separateYAML returns obj as a YAML document. The library must decode some of them.
func separateYAML(obj any) ([]byte, error) {
	data, err := yaml.Marshal(obj)
	if len(data)%10 == 0 {
		data = append(data, "x: &x {y: [1]}\nz: *x\n"...)
	}
	return append([]byte("---\n"), data...), err
}

func testReusedMemory(t *testing.T, name string, marshal func(any) ([]byte, error)) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	var lines bytes.Buffer
	for i := range 4000 {
		data, err := marshal(randomCronTab(r, i))
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(data, '\n'))
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, validation := range []string{"strict", "warn", "ignore"} {
		reused, kept := objectReports(t, path, validation), objectReports(t, path, validation, "--persisted")
		if len(reused) != 4000 || len(kept) != len(reused) {
			t.Fatalf("%d and %d reports", len(reused), len(kept))
		}
		verdicts := map[any]int{}
		for i := range reused {
			delete(kept[i], "persisted")
			if !reflect.DeepEqual(reused[i], kept[i]) {
				t.Fatalf("object %d:\n%v\nwith --persisted:\n%v", i, reused[i], kept[i])
			}
			verdicts[reused[i]["verdict"]]++
		}
		if verdicts["valid"] < 200 || verdicts["invalid"] < 200 {
			t.Errorf("verdicts: %v", verdicts)
		}
	}
}

// randomCronTab returns a CronTab with missing, unknown, null, and invalid fields.
func randomCronTab(r *rand.Rand, n int) map[string]any {
	spec := map[string]any{"schedule": pick(r, "* * * * *", "0 3 * * 1", "* *"), "image": fmt.Sprint("image-", n)}
	put := func(name string, values ...any) {
		if r.IntN(3) > 0 {
			spec[name] = values[r.IntN(len(values))]
		}
	}
	put("replicas", 0, 1, 5, nil)
	put("maxReplicas", 6, 7, nil)
	put("suspended", false, true, nil)
	var env []any
	for range r.IntN(4) {
		env = append(env, map[string]any{"name": pick(r, "A", "B", "C", "PATH", "PATH_2", "lower"), "value": fmt.Sprint(n)})
	}
	put("env", env, env, nil)
	if r.IntN(20) == 0 {
		spec["unknown"] = map[string]any{"a": map[string]any{"b": n}}
	}
	obj := map[string]any{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "spec": spec,
		"metadata": map[string]any{"name": fmt.Sprint("tab-", n), "labels": map[string]any{"app": fmt.Sprint(n)}}}
	if r.IntN(2) == 0 {
		obj["status"] = map[string]any{"phase": pick(r, "Pending", "Running", "Lost")}
	}
	return obj
}

func pick(r *rand.Rand, values ...string) string { return values[r.IntN(len(values))] }

func objectReports(t *testing.T, path, validation string, flags ...string) []map[string]any {
	t.Helper()
	var out, stderr bytes.Buffer
	a := &app{stdout: &out, stderr: &stderr}
	a.run(context.Background(), append([]string{"check", "--crd", crontabCRD, "-o", "json", "--validate", validation, path}, flags...))
	var report struct{ Objects []map[string]any }
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	return report.Objects
}
