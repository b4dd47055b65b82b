package schema

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// place is where a value is; nil is the root. It is written down only for
// errors, in the notation of whoever reports them.
type place struct {
	up    *place
	name  string
	index int
	step  step
}

type step uint8

const (
	property   step = iota // a field that the schema names
	additional             // any other field
	item
)

// String is the notation of value errors. Fields that are no properties get a
// dot at the root too.
func (p *place) String() string { return string(p.write(nil)) }

func (p *place) write(b []byte) []byte {
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

func (p *place) writeIndex(b []byte) []byte {
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(p.index), 10)
	return append(b, ']')
}

// root tells whether the place's path is empty, as it is at the root and for
// a root property without a name.
func (p *place) root() bool {
	return p == nil || p.step == property && p.name == "" && p.up.root()
}

// unknown is the notation of unknown fields.
func (p *place) unknown(b []byte) []byte {
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

// field is the notation of list and metadata errors.
func (p *place) field(base *field.Path) *field.Path {
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
