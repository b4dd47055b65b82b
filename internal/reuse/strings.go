package reuse

import "math/bits"

// maxLen is the length of the longest string that a Memory keeps.
const maxLen = 32

// tableSize is the number of strings that a Memory keeps. It is a power of two.
const tableSize = 1 << 10

// A table holds strings by their hash. A new string replaces the string with the same hash, so that
// a table never grows.
type table [tableSize]entry

// An entry is a string and the same string as a value.
type entry struct {
	text  string
	value any
}

// String returns text as a string, which m keeps if it is short.
func String[T string | []byte](m *Memory, text T) string {
	if len(text) > maxLen {
		return string(text)
	}
	return find(m, text).text
}

// Value returns text as a value that is a string, which m keeps if it is short.
func Value[T string | []byte](m *Memory, text T) any {
	if len(text) > maxLen {
		return string(text)
	}
	return find(m, text).value
}

func find[T string | []byte](m *Memory, text T) *entry {
	e := &m.strings[hash(text)%tableSize]
	if e.text != string(text) || e.value == nil {
		kept := string([]byte(text)) // the table must not hold the memory of whole texts
		*e = entry{kept, kept}
	}
	return e
}

// hash returns a hash of text that is cheap: it depends on the length and on the first and the last
// characters. If other strings have the same hash, that costs memory but changes no result.
func hash[T string | []byte](text T) uint64 {
	var first, last uint64
	switch n := len(text); {
	case n >= 8:
		first, last = eight(text[:8]), eight(text[n-8:])
	case n >= 4:
		first, last = four(text[:4]), four(text[n-4:])
	case n > 0:
		first, last = uint64(text[0]), uint64(text[n/2])|uint64(text[n-1])<<8
	}
	high, low := bits.Mul64(first^0x9e3779b97f4a7c15, last^0xd1b54a32d192ed03^uint64(len(text)))
	return high ^ low
}

func eight[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func four[T string | []byte](s T) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}
