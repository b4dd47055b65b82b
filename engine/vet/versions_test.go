package vet

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/celadon-cel/celadon/types"
)

// The expected verdicts are from real servers.
func TestVersionAnswers(t *testing.T) {
	folder := os.Getenv("CELADON_VERSIONS")
	if folder == "" {
		t.Skip("CELADON_VERSIONS names no folder with answers: nothing to compare")
	}
	data, err := os.ReadFile(filepath.Join(folder, "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	answers, wrong := 0, 0
	for line := range bytes.Lines(data) {
		var probe struct {
			Probe    string
			First    *string
			Accepted map[string]bool
		}
		if err := json.Unmarshal(line, &probe); err != nil {
			t.Fatal(err)
		}
		crd, err := os.ReadFile(filepath.Join(folder, "probes", probe.Probe+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for version, accepted := range probe.Accepted {
			if version == "1.26" || version == "1.27" {
				continue // not supported
			}
			r, err := Vet(context.Background(), crd, Config{KubeVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			answers++
			if r.Accepted != accepted {
				wrong++
				t.Errorf("%s at %s: accepted %v, want %v: %v", probe.Probe, version, r.Accepted, accepted, r.Causes)
			}
		}
		lowest(t, crd, probe.Probe, probe.First)
	}
	t.Logf("%d answers: %d differ", answers, wrong)
}

// first is the first version that accepted the probe.
func lowest(t *testing.T, crd []byte, probe string, first *string) {
	t.Helper()
	r, err := Vet(context.Background(), crd, Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	if first != nil && r.Accepted { // string(int) in a messageExpression is accepted by versions that drop it
		want = max(*first, types.Version{Minor: types.Oldest}.String()) // all have two digits
	}
	if r.MinKubeVersion != want {
		t.Errorf("%s: lowest version %q, want %q (needs %v)", probe, r.MinKubeVersion, want, r.Needs)
	}
	if want > "1.28" && len(r.Needs) == 0 {
		t.Errorf("%s: nothing requires %s", probe, want)
	}
	t.Logf("%s: %s %v", probe, r.MinKubeVersion, r.Needs)
}
