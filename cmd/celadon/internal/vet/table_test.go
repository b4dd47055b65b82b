package vet

import (
	"bytes"
	"testing"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

func TestBar(t *testing.T) {
	t.Parallel()
	out := untrusted.NewWriter(new(bytes.Buffer))
	out.Colors = true
	p := &textPrinter{out: out, width: 120}
	for cost, want := range map[uint64]untrusted.Safe{0: "", 9_999: "", 10_000: " █░░░░░░░░░", 5_000_000: " █████░░░░░", 10_000_000: " ██████████"} {
		if got := p.bar(cost, 10_000_000); got != want {
			t.Errorf("%d: %q, want %q", cost, got, want)
		}
	}
}
