package admission

import (
	"runtime"
	"strings"
	"testing"
)

// Paths are only formatted for fields that are patched, because an object within the API server's size limit can be
// 9,000 names deep. The test measures memory, so it does not run in parallel.
func TestDeepPatch(t *testing.T) {
	deep := func(end map[string]any) map[string]any {
		for range 9000 {
			end = map[string]any{strings.Repeat("n", 300): end}
		}
		return end
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ops, ok := additions(object{fields: deep(map[string]any{"a": int64(1)})}, deep(map[string]any{"a": int64(1)}))
	if len(ops) > 0 || !ok {
		t.Errorf("nothing is lacking: %t, %v", ok, ops)
	}
	ops, ok = additions(object{fields: deep(map[string]any{})}, deep(map[string]any{"a": int64(1)}))
	if len(ops) > 0 || ok {
		t.Errorf("a path longer than maxPatch: %t, %d operations", ok, len(ops))
	}
	runtime.ReadMemStats(&after)
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 100 {
		t.Errorf("%d MiB allocated", mib)
	}
}
