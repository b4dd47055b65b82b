package jsonvalue

// maxKept is the length of the longest string that a table keeps.
const maxKept = 32

// tableSize is the number of strings that a table keeps. It is a power of two.
const tableSize = 1 << 10

// A table holds strings of earlier texts, by their hash. A new string replaces the string with the
// same hash, so that a table never grows.
type table [tableSize]entry

// An entry is a string and the same string as a value.
type entry struct {
	text  string
	value any
}

// name returns text, from the table if it is short.
func (t *table) name(text string) string {
	if len(text) > maxKept {
		return text
	}
	return t.entry(text).text
}

// value returns text as a value, from the table if it is short.
func (t *table) value(text string) any {
	if len(text) > maxKept {
		return text
	}
	return t.entry(text).value
}

func (t *table) entry(text string) *entry {
	e := &t[hash(text)%tableSize]
	if e.text != text || e.value == nil {
		kept := string([]byte(text)) // a table must not hold the memory of whole texts
		*e = entry{kept, kept}
	}
	return e
}

// hash returns a hash of text (FNV-1a).
func hash(text string) uint32 {
	h := uint32(2166136261)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return h
}
