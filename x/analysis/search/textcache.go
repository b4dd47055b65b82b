package search

import (
	"fmt"
	"slices"
	"sync"

	"github.com/celadon-cel/celadon/internal/regexp/automaton"
)

// A TextCache holds the results of searches for strings, which several Searches can share. The zero value
// is ready to use. It is safe for concurrent use. Results do not depend on the cache, and the work of a
// cached result is charged like that of a search.
type TextCache struct {
	mu    sync.Mutex
	found map[string]automaton.Found
	bytes int
}

// find returns the strings of a language, which is that of w.
func (c *TextCache) find(w textWant, language *automaton.Language, within automaton.Search) automaton.Found {
	key := fmt.Sprintf("%s %d %d", w.key(), within.Count, within.Steps)
	c.mu.Lock()
	found, ok := c.found[key]
	c.mu.Unlock()
	if ok {
		return found
	}
	found = language.Find(within)
	found.Texts = slices.Clip(found.Texts) // callers append
	size := len(key)
	for _, s := range found.Texts {
		size += len(s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes += size; c.found == nil || c.bytes > maxKept {
		c.found, c.bytes = map[string]automaton.Found{}, size
	}
	c.found[key] = found
	return found
}
