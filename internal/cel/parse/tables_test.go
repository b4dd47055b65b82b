package parse_test

import (
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/celexprs"
)

func TestUpstreamTables(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	texts := celexprs.Upstream(t)
	kube, _ := kubernetes(t)
	others := sides(t)
	accepted := 0
	for i, text := range texts {
		if kube.compare(t, text) {
			accepted++
		}
		others[i%len(others)].compare(t, text)
	}
	t.Logf("%d of %d texts accepted", accepted, len(texts))
}
