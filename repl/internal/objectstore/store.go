// Package objectstore keeps many decoded objects of one kind in little memory.
//
//	s := objectstore.New(table)
//	err := s.Add(head, object)
//	s.Done()
//	object := s.Object(i)
//
// A stored HTTPRoute takes about half of the bytes of its JSON, and a tenth of the memory of its decoded form.
package objectstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// How it works. Objects are appended to blocks in a binary form: a byte for the type of each value, and
// then its content. Names of fields, and short strings that occur repeatedly, are stored once in a Table
// and referred to by number. A full block becomes a string, so the strings of decoded objects are parts
// of it and need no copy.

// A Head identifies an object and its source.
type Head struct {
	Namespace, Name string
	// File is the name of the source, and Line the line where the object begins, from 1. Line is 0 if
	// it is unknown.
	File string
	Line int
}

// A Store holds objects. Add and Done must not be called concurrently with other methods. Objects can be
// read after Done, by any number of goroutines.
type Store struct {
	table  *Table
	blocks []string
	open   []byte // the last block, until it is full
	starts []uint64
	heads  []head
}

// A head is the compact form of a Head.
type head struct {
	file            uint32
	line            uint32
	namespace, name string
}

// MaxBytes limits the memory of all stores with the same table.
const MaxBytes = 2 << 30

// ErrFull is returned by Add if the objects take more than MaxBytes.
var ErrFull = errors.New("too many objects: they would take over 2 GiB of memory: name fewer files, or a namespace")

// headBytes is the approximate memory for the identity of an object.
const headBytes = 64

// blockBytes is the size from which a block is full. A block is larger if its last object is.
const blockBytes = 1 << 20

// New returns an empty store. Stores with the same table share its strings.
func New(table *Table) *Store { return &Store{table: table} }

// Len returns the number of objects.
func (s *Store) Len() int { return len(s.heads) }

// Add appends an object, which consists of maps, lists, strings, numbers, booleans, and nil, as
// engine.Decode returns them. It returns an error for any other value. Nothing is added then.
func (s *Store) Add(h Head, object map[string]any) error {
	if s.table.bytes > MaxBytes || len(s.heads) == math.MaxInt32 {
		return ErrFull
	}
	start := len(s.open)
	open, err := s.table.appendValue(s.open, object)
	if err != nil {
		s.open = s.open[:start]
		return err
	}
	s.open = open
	s.table.bytes += len(open) - start + len(h.Name) + headBytes
	s.starts = append(s.starts, uint64(len(s.blocks))<<32|uint64(start))
	s.heads = append(s.heads, head{
		file: s.table.fileNumber(h.File), line: uint32(max(0, min(h.Line, math.MaxInt32))),
		namespace: s.table.shared(h.Namespace), name: string([]byte(h.Name)),
	})
	if len(s.open) >= blockBytes {
		s.endBlock()
	}
	return nil
}

func (s *Store) endBlock() {
	if len(s.open) > 0 {
		s.blocks, s.open = append(s.blocks, string(s.open)), s.open[:0]
	}
}

// Done completes the store after the last Add, and releases the memory that only Add needs.
func (s *Store) Done() {
	s.endBlock()
	s.open = nil
}

// Head returns the identity and the source of object i.
func (s *Store) Head(i int) Head {
	h := &s.heads[i]
	return Head{Namespace: h.namespace, Name: h.name, File: s.table.files[h.file], Line: int(h.line)}
}

// Object decodes object i. The result shares only immutable memory with other objects.
func (s *Store) Object(i int) map[string]any {
	at := s.starts[i]
	d := decoder{table: s.table, text: s.blocks[at>>32][uint32(at):]}
	object, _ := d.value().(map[string]any)
	return object
}

// The types of values. A small integer is part of the type's byte.
const (
	typeNull byte = iota
	typeFalse
	typeTrue
	typeInt
	typeFloat
	typeString
	typeShared
	typeList
	typeMap
	typeSmall // and above: the integers from 0
)

const maxSmall = 255 - int64(typeSmall)

func (t *Table) appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, typeNull), nil
	case bool:
		if v {
			return append(b, typeTrue), nil
		}
		return append(b, typeFalse), nil
	case int64:
		if v >= 0 && v <= maxSmall {
			return append(b, typeSmall+byte(v)), nil
		}
		return binary.AppendVarint(append(b, typeInt), v), nil
	case float64:
		return binary.LittleEndian.AppendUint64(append(b, typeFloat), math.Float64bits(v)), nil
	case string:
		return t.appendString(b, v), nil
	case []any:
		return t.appendList(b, v)
	case map[string]any:
		return t.appendMap(b, v)
	}
	return b, fmt.Errorf("unexpected value of type %T", v)
}

func (t *Table) appendString(b []byte, s string) []byte {
	if n, ok := t.repeated(s); ok {
		return binary.AppendUvarint(append(b, typeShared), uint64(n))
	}
	return append(binary.AppendUvarint(append(b, typeString), uint64(len(s))), s...)
}

func (t *Table) appendList(b []byte, list []any) (_ []byte, err error) {
	b = binary.AppendUvarint(append(b, typeList), uint64(len(list)))
	for _, item := range list {
		if b, err = t.appendValue(b, item); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (t *Table) appendMap(b []byte, m map[string]any) (_ []byte, err error) {
	b = binary.AppendUvarint(append(b, typeMap), uint64(len(m)))
	for key, value := range m {
		if n, ok := t.repeated(key); ok {
			b = binary.AppendUvarint(b, uint64(n)+1)
		} else {
			b = append(binary.AppendUvarint(append(b, 0), uint64(len(key))), key...)
		}
		if b, err = t.appendValue(b, value); err != nil {
			return b, err
		}
	}
	return b, nil
}

// A decoder reads values from the front of text.
type decoder struct {
	table *Table
	text  string
}

func (d *decoder) uvarint() uint64 {
	var n uint64
	for i := 0; ; i++ {
		c := d.text[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.text = d.text[i+1:]
			return n
		}
	}
}

func (d *decoder) string() string {
	n := d.uvarint()
	s := d.text[:n]
	d.text = d.text[n:]
	return s
}

func (d *decoder) value() any {
	kind := d.text[0]
	d.text = d.text[1:]
	switch kind {
	case typeNull:
		return nil
	case typeFalse:
		return false
	case typeTrue:
		return true
	case typeInt:
		n := d.uvarint()
		return int64(n>>1) ^ -int64(n&1)
	case typeFloat:
		bits := binary.LittleEndian.Uint64([]byte(d.text[:8]))
		d.text = d.text[8:]
		return math.Float64frombits(bits)
	case typeString:
		return d.string()
	case typeShared:
		return d.table.values[d.uvarint()]
	case typeList:
		list := make([]any, d.uvarint())
		for i := range list {
			list[i] = d.value()
		}
		return list
	case typeMap:
		return d.object()
	}
	return int64(kind - typeSmall)
}

func (d *decoder) object() map[string]any {
	n := int(d.uvarint())
	m := make(map[string]any, n)
	for range n {
		var key string
		if at := d.uvarint(); at > 0 {
			key = d.table.texts[at-1]
		} else {
			key = d.string()
		}
		m[key] = d.value()
	}
	return m
}
