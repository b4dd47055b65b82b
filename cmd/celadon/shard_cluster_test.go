package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/clustertest"
)

func TestShardsOfCluster(t *testing.T) {
	s := exampleCluster(t)
	s.Define(t, []byte(strings.NewReplacer("stable.example.com", "secret.example.com").Replace(string(readFile(t, crontabCRD)))), 1, func(int) string { return "{}" })
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/secret.example.com/") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403}`)
		return true
	}
	for _, more := range [][]string{nil, {"--source", "prod"}, {"--summary"}} {
		args := append([]string{"check", "--cluster", "-A", "--quiet"}, more...)
		reports := t.TempDir()
		for i := range 4 {
			out := filepath.Join(reports, fmt.Sprintf("%d.jsonl", i))
			if _, stderr, code := shardRun(t, slices.Concat(args, []string{"--shard", fmt.Sprintf("%d/4", i), "-o", "jsonl", "--out", out})...); code != command.Usage {
				t.Fatalf("shard %d: exit code %d: %s", i, code, stderr)
			}
		}
		want, _, code := shardRun(t, append(args, "-o", "github")...)
		got, stderr, merged := shardRun(t, "merge", "-o", "github", reports)
		if diff := cmp.Diff(want, got); diff != "" || code != merged || !strings.Contains(got, "secret.example.com") {
			t.Errorf("%v: exit codes %d and %d, -one run +merged:\n%s%s", more, code, merged, diff, stderr)
		}
	}
}

func TestEmptyCluster(t *testing.T) {
	s := clustertest.Start(t)
	s.Define(t, readFile(t, crontabCRD), 0, func(int) string { return "{}" })
	t.Setenv("KUBECONFIG", s.Kubeconfig(t))
	reports := t.TempDir()
	part := func(name string) (string, int) {
		_, stderr, code := shardRun(t, "check", "--cluster", "-A", "--source", name, "--sources", "3", "-o", "jsonl", "--out", filepath.Join(reports, name+".jsonl"))
		return stderr, code
	}
	for _, name := range []string{"cluster-0", "cluster-2"} {
		if stderr, code := part(name); code != command.OK {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
	}
	s.Before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	if stderr, code := part("cluster-1"); code != command.Usage {
		t.Errorf("without permission: exit code %d: %s", code, stderr)
	}
	out, stderr, code := shardRun(t, "merge", reports)
	if code != command.Usage || !strings.Contains(out, "missing from the report: cluster-1\n") {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
}
