package reuse

import (
	"fmt"
	"strings"
	"testing"
)

// TestStrings checks that a Memory returns equal strings, also when many strings share its entries, and
// that later changes to the bytes do not change them.
func TestStrings(t *testing.T) {
	t.Parallel()
	memory := new(Memory)
	var texts []string
	for i := range 3 * tableSize {
		texts = append(texts, strings.Repeat("x", i%50)+fmt.Sprint(i/100))
	}
	texts = append(texts, "", "a", "ab", "abc", "é", "\x00", strings.Repeat("y", 1000))
	for range 2 {
		for _, text := range texts {
			data := []byte(text)
			got, value := String(memory, data), Value(memory, data)
			for i := range data {
				data[i] = '!'
			}
			if got != text || value != any(text) || String(memory, text) != text || Value(memory, text) != any(text) {
				t.Fatalf("%q became %q and %q", text, got, value)
			}
		}
	}
}

// TestNoAllocation checks that equal short strings are allocated once.
func TestNoAllocation(t *testing.T) {
	memory, text, data := new(Memory), "metadata", []byte("metadata")
	if n := testing.AllocsPerRun(100, func() {
		String(memory, text)
		Value(memory, text)
		String(memory, data)
		Value(memory, data)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMaps checks that only the maps of a value that was given up are reused, and that their number and
// size are limited.
func TestMaps(t *testing.T) {
	t.Parallel()
	m := new(Memory)
	kept := m.NewMap()
	kept["a"] = 1
	m.Give(kept)
	m.Forget()
	m.Reuse()
	if next := m.NewMap(); len(next) > 0 || len(kept) != 1 {
		t.Errorf("a forgotten map was reused: %v, %v", next, kept)
	}
	m.Give(kept)
	m.Reuse()
	if next := m.NewMap(); len(next) > 0 || len(kept) > 0 {
		t.Errorf("the map was not reused: %v, %v", next, kept)
	}
	large := map[string]any{}
	for i := range maxEntries + 1 {
		large[fmt.Sprint(i)] = i
	}
	m.Give(large)
	for range 2 {
		for range 2 * maxMaps {
			m.Give(map[string]any{})
		}
		m.Reuse()
	}
	if len(large) != maxEntries+1 || len(m.free) != maxMaps || len(m.given) > 0 {
		t.Errorf("%d entries, %d free maps, %d given maps", len(large), len(m.free), len(m.given))
	}
}
