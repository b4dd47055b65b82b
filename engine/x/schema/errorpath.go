package schema

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// An errorPath is the path of a value; nil is the root. It is only formatted for errors, in the notation
// of the check that reports the error.
type errorPath struct {
	up    *errorPath
	name  string
	index int
	step  step
}

type step uint8

const (
	property   step = iota // a property of the schema
	additional             // any other field
	item
)

// String returns the notation of value errors. Fields that are not properties have a leading dot at
// the root too.
func (p *errorPath) String() string { return string(p.write(nil)) }

func (p *errorPath) write(b []byte) []byte {
	if p == nil {
		return b
	}
	b = p.up.write(b)
	if p.step == item {
		return p.writeIndex(b)
	}
	if len(b) > 0 || p.step == additional {
		b = append(b, '.')
	}
	return append(b, p.name...)
}

func (p *errorPath) writeIndex(b []byte) []byte {
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(p.index), 10)
	return append(b, ']')
}

// root reports whether the path is empty, which is true at the root and for a root property whose
// name is empty.
func (p *errorPath) root() bool {
	return p == nil || p.step == property && p.name == "" && p.up.root()
}

// unknown appends the notation of unknown fields to b.
func (p *errorPath) unknown(b []byte) []byte {
	if p == nil {
		return b
	}
	b = p.up.unknown(b)
	if p.step == item {
		return p.writeIndex(b)
	}
	if p.up != nil {
		b = append(b, '.')
	}
	return append(b, p.name...)
}

// field returns the notation of list and metadata errors.
func (p *errorPath) field(base *field.Path) *field.Path {
	if p == nil {
		return base
	}
	up := p.up.field(base)
	switch p.step {
	case item:
		return up.Index(p.index)
	case additional:
		return up.Key(p.name)
	}
	return up.Child(p.name)
}
