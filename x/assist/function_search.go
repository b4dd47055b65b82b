package assist

import (
	"cmp"
	"slices"
	"strings"
)

// NameHint returns the hint for a name or keyword that other languages use, or "".
func NameHint(name string) string { return cmp.Or(nameHints[name], wordHints[name]) }

// SearchFunctions returns the entries whose name, summary, or description contains all words of
// query, ignoring case. The best matches come first.
func SearchFunctions(query string) []FunctionEntry {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 || len(query) > maxQuery {
		return nil
	}
	type match struct {
		entry FunctionEntry
		rank  int
	}
	var found []match
	for _, e := range functionIndex() {
		total := 0
		for _, word := range words {
			rank := e.rank(word)
			if rank == noMatch {
				total = noMatch
				break
			}
			total += rank
		}
		if total < noMatch {
			found = append(found, match{e, total})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.rank, b.rank) })
	out := make([]FunctionEntry, len(found))
	for i, m := range found {
		out[i] = m.entry
	}
	return out
}

const (
	// maxQuery limits the length of a query in bytes.
	maxQuery = 200
	// noMatch is the rank of an entry that does not contain a word.
	noMatch = 1000
)

// rank returns how well the entry matches a word in lower case. Small ranks are better.
func (e *FunctionEntry) rank(word string) int {
	name := strings.ToLower(e.Name)
	inGroup := slices.Contains(e.Groups, word) || slices.Contains(e.Groups, word+"s")
	switch {
	case name == word:
		return 0
	case strings.HasPrefix(name, word):
		return 1
	case strings.Contains(name, word):
		return 2
	case containsWord(e.Summary, word):
		return 3
	case inGroup:
		return 4
	case strings.Contains(strings.ToLower(e.Summary), word):
		return 5
	case len(word) <= 2 && identifier(word): // such as "if"
		return noMatch
	case containsWord(e.Description, word):
		return 6
	case len(word) > 3 && strings.Contains(strings.ToLower(e.Description), word):
		return 7
	}
	return noMatch
}

// containsWord reports whether text contains a whole word in lower case, or its plural.
func containsWord(text, word string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" ,.;:()[]/", r) })
	return slices.Contains(words, word) || slices.Contains(words, word+"s")
}
