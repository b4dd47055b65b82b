package schema

import (
	"regexp"
	"sync"
	"testing"
)

// After many uses, a pattern is matched with a table.
func TestPatternOften(t *testing.T) {
	texts := []string{"", "a", "a-b", "a-", "-a", "a.b", "é", "a\xff", "a\n", "0", "A"}
	for src, small := range map[string]bool{"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$": true, "a": true, `\w$`: true, "^.$": true, "(a|b)*a(a|b){10}": false} {
		p, re := &pattern{text: src}, regexp.MustCompile(src)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				m := meter{left: 1 << 30}
				for range often {
					for _, text := range texts {
						if got, want := p.match(text, &m), re.MatchString(text); got != want {
							t.Errorf("%q on %q: got %t, want %t", src, text, got, want)
						}
					}
				}
			})
		}
		all.Wait()
		if got := p.table.Load() != nil; got != small {
			t.Errorf("%q: a table: %t, want %t", src, got, small)
		}
	}
}
