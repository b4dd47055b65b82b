package serve

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Run it with -race.
func TestAttackPolicyReload(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(examplePolicies)); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, "--crd", exampleD, "--policy", folder, "--remove-after", "1h", "--plain-http")
	limits := filepath.Join(folder, "limits.yaml")
	three := read(t, limits)
	five := strings.Replace(three, `maxReplicas: "3"`, `maxReplicas: "5"`, 1)
	var stop atomic.Bool
	var decided atomic.Int64
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for !stop.Load() {
				code, denied := s.post("/validate", policyReview("CREATE", "9", "jane"))
				if code != http.StatusOK || !strings.Contains(denied, "at most 3 replicas") && !strings.Contains(denied, "at most 5 replicas") {
					t.Errorf("9 replicas: %d: %s", code, denied)
					return
				}
				code, allowed := s.post("/validate", policyReview("CREATE", "2", "jane"))
				if code != http.StatusOK || !strings.Contains(allowed, `"allowed":true`) {
					t.Errorf("2 replicas: %d: %s", code, allowed)
					return
				}
				decided.Add(1)
			}
		})
	}
	for i := range 12 {
		loaded, failed := len(s.log.records("policies loaded")), len(s.log.records("policies not changed"))
		switch {
		case i%3 == 2:
			replace(t, limits, []string{"{", strings.Replace(three, "variables.limit\n", "variables.\n", 1), "kind: ["}[i/3%3])
			s.await("the error is logged", func() bool { return len(s.log.records("policies not changed")) > failed })
		case i%3 == 0:
			replace(t, limits, five)
			s.await("five is loaded", func() bool { return len(s.log.records("policies loaded")) > loaded })
		default:
			replace(t, limits, three)
			s.await("three is loaded", func() bool { return len(s.log.records("policies loaded")) > loaded })
		}
	}
	s.await("requests are decided after the last change", func() bool { return t.Failed() || decided.Load() > 0 })
	stop.Store(true)
	clients.Wait()
	t.Logf("%d pairs of requests", decided.Load())
}
