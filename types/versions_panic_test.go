package types

import (
	"errors"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// TestFormatPanics checks that only servers of 1.31 panic on formats that are not constant.
func TestFormatPanics(t *testing.T) {
	t.Parallel()
	text := FromSchema(&schema.Structural{Generic: schema.Generic{Type: "string"}}, Subtree)
	for minor := 30; minor <= Newest; minor++ {
		for src, panics := range map[string]bool{
			"self.format([1]) == ''":            minor == 31,
			"'%s'.format([self]) == ''":         false,
			"self.startsWith('format')":         false,
			"[self].all(x, x.format([]) == '')": minor == 31,
		} {
			_, _, err := NewRulesEnv(Version{minor}).Compile(text, false, src)
			if got := errors.As(err, new(*PanicError)); got != panics {
				t.Errorf("1.%d: %s: panics %v, want %v: %v", minor, src, got, panics, err)
			}
			if err != nil && !panics {
				t.Errorf("1.%d: %s: %v", minor, src, err)
			}
		}
	}
}
