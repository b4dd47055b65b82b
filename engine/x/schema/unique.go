package schema

import (
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"unicode/utf8"
)

// A hasher computes equal hashes for equal values, both for equality in Go and for equality as encoded JSON, where 1
// equals 1.0. unsure is set if a value cannot be encoded.
type hasher struct{ unsure bool }

var hashSeed = maphash.MakeSeed()

const (
	hashNull = iota + 1
	hashTrue
	hashFalse
	hashList
	hashMap
)

func (h *hasher) value(v any) uint64 {
	switch v := v.(type) {
	case nil:
		return mix(hashNull)
	case bool:
		if v {
			return mix(hashTrue)
		}
		return mix(hashFalse)
	case string:
		return h.text(v)
	case int64:
		return h.number(float64(v))
	case float64:
		return h.number(v)
	case []any:
		return h.list(v)
	case map[string]any:
		return h.dict(v)
	}
	h.unsure = true
	return 0
}

// Encoding as JSON replaces invalid UTF-8.
func (h *hasher) text(s string) uint64 {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	return maphash.String(hashSeed, s)
}

func (h *hasher) number(f float64) uint64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		h.unsure = true
	}
	if f == 0 {
		f = 0 // from -0
	}
	return mix(math.Float64bits(f))
}

func (h *hasher) list(items []any) uint64 {
	if items == nil {
		return h.value(nil)
	}
	sum := mix(hashList)
	for _, v := range items {
		sum = mix(sum ^ h.value(v))
	}
	return sum
}

func (h *hasher) dict(fields map[string]any) uint64 {
	if fields == nil {
		return h.value(nil)
	}
	sum := mix(hashMap)
	for name, v := range fields { // in random order
		sum += mix(h.text(name) ^ mix(h.value(v)))
	}
	return mix(sum)
}

func (h *hasher) key(item any, keys []string) uint64 {
	fields, _ := item.(map[string]any)
	sum := mix(hashMap)
	for _, name := range keys {
		if v, ok := fields[name]; ok {
			sum ^= h.value(v)
		}
		sum = mix(sum)
	}
	return sum
}

func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// few is the largest number of items whose hashes are kept on the stack.
const few = 32

var hashBuffers = sync.Pool{New: func() any { return new([]uint64) }}

// distinct compares hashes of keys, or of items if keys is nil. It may return false for distinct items.
func distinct(items []any, keys []string) bool {
	if len(items) < 2 {
		return true
	}
	var small [few]uint64
	if len(items) <= few {
		return distinctIn(small[:0], items, keys)
	}
	buffer := hashBuffers.Get().(*[]uint64)
	*buffer = slices.Grow((*buffer)[:0], len(items))
	ok := distinctIn(*buffer, items, keys)
	hashBuffers.Put(buffer)
	return ok
}

func distinctIn(hashes []uint64, items []any, keys []string) bool {
	var h hasher
	for _, v := range items {
		if keys == nil {
			hashes = append(hashes, h.value(v))
		} else {
			hashes = append(hashes, h.key(v, keys))
		}
	}
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] == hashes[i-1] {
			return false
		}
	}
	return !h.unsure
}

func unique(items []any) bool {
	if distinct(items, nil) {
		return true
	}
	var h hasher
	byHash := make(map[uint64][]any, len(items))
	for _, v := range items {
		hash := h.value(v)
		for _, other := range byHash[hash] {
			if Equal(v, other) {
				return false
			}
		}
		byHash[hash] = append(byHash[hash], v)
	}
	return true
}
