package objectstore

import (
	"hash/maphash"
	"strings"
)

// A Table holds the strings that several objects share. It is not safe for concurrent use while objects
// are added.
type Table struct {
	numbers map[string]uint32
	texts   []string
	values  []any // the texts as values, so that decoding allocates nothing
	files   []string
	fileNos map[string]uint32
	bytes   int // of the objects of all stores, approximately
	// seen holds the hashes of strings that occurred once.
	seen []uint64
	seed maphash.Seed
}

const (
	// maxSharedBytes and maxShared limit the size and the number of shared strings. maxSeen limits the
	// strings that are remembered because they occurred once.
	maxSharedBytes = 64
	maxShared      = 1 << 16
	maxSeen        = 1 << 14
)

// NewTable returns an empty table.
func NewTable() *Table {
	return &Table{numbers: map[string]uint32{}, fileNos: map[string]uint32{}, seen: make([]uint64, maxSeen), seed: maphash.MakeSeed()}
}

// repeated returns the number of a shared string. A string becomes shared when it occurs again and there
// is room.
func (t *Table) repeated(s string) (uint32, bool) {
	if len(s) > maxSharedBytes {
		return 0, false
	}
	if n, ok := t.numbers[s]; ok {
		return n, true
	}
	if len(t.texts) >= maxShared {
		return 0, false
	}
	hash := maphash.String(t.seed, s)
	if slot := &t.seen[hash%maxSeen]; *slot != hash {
		*slot = hash
		return 0, false
	}
	return t.share(s), true
}

func (t *Table) share(s string) uint32 {
	n := uint32(len(t.texts))
	s = strings.Clone(s)
	t.texts, t.values = append(t.texts, s), append(t.values, s)
	t.numbers[s] = n
	return n
}

// shared returns a string equal to s that does not keep other memory from being freed.
func (t *Table) shared(s string) string {
	if n, ok := t.repeated(s); ok {
		return t.texts[n]
	}
	return strings.Clone(s)
}

// Bytes returns the approximate memory of the objects in all stores with this table.
func (t *Table) Bytes() int { return t.bytes }

// fileNumber returns the number of a file name.
func (t *Table) fileNumber(name string) uint32 {
	n, ok := t.fileNos[name]
	if !ok {
		n = uint32(len(t.files))
		t.bytes += 2 * (len(name) + headBytes)
		name = strings.Clone(name)
		t.files, t.fileNos[name] = append(t.files, name), n
	}
	return n
}
