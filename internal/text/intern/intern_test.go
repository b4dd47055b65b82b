package intern

import (
	"fmt"
	"strings"
	"testing"
)

// TestTable checks that a table returns equal strings, also when many strings share its entries, and
// that later changes to the bytes do not change them.
func TestTable(t *testing.T) {
	t.Parallel()
	table := new(Table)
	var texts []string
	for i := range 3 * size {
		texts = append(texts, strings.Repeat("x", i%50)+fmt.Sprint(i/100))
	}
	texts = append(texts, "", "a", "ab", "abc", "é", "\x00", strings.Repeat("y", 1000))
	for range 2 {
		for _, text := range texts {
			data := []byte(text)
			got, value := String(table, data), Value(table, data)
			for i := range data {
				data[i] = '!'
			}
			if got != text || value != any(text) || String(table, text) != text || Value(table, text) != any(text) {
				t.Fatalf("%q became %q and %q", text, got, value)
			}
		}
	}
}

// TestNoAllocation checks that equal short strings are allocated once.
func TestNoAllocation(t *testing.T) {
	table, text, data := new(Table), "metadata", []byte("metadata")
	if n := testing.AllocsPerRun(100, func() {
		String(table, text)
		Value(table, text)
		String(table, data)
		Value(table, data)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
