package eval

import (
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// How it works: [a, b] and {k: v} with constant elements are constants and cost nothing, as in
// cel-go. Otherwise they are made in each evaluation. In rules, messages can only have CEL's own wrapper
// types; mutations of admission policies also have Object and JSONPatch.

func (p *planner) listLiteral(e ast.Expr) (*code, error) {
	list := e.AsList()
	items := make([]literalItem, len(list.Elements()))
	folds := true
	for i, elem := range list.Elements() {
		c, err := p.plan(elem)
		if err != nil {
			return nil, err
		}
		items[i] = literalItem{val: c.boxed()}
		folds = folds && c.isConst()
	}
	for _, i := range list.OptionalIndices() {
		items[i].optional = true
	}
	if folds {
		return constant(newList(nil, items), p.typeOf(e)), nil
	}
	return boxedCode(asLiteral, func(f *frame) ref.Val {
		v := newList(f, items)
		f.chargeCall(common.ListCreateBaseCost, !celtypes.IsError(v))
		return v
	}), nil
}

type literalItem struct {
	key, val valFunc
	optional bool
}

func newList(f *frame, items []literalItem) ref.Val {
	vals := make([]ref.Val, 0, len(items))
	for i := range items {
		v := items[i].val(f)
		if celtypes.IsUnknownOrError(v) {
			return v
		}
		if items[i].optional {
			opt, ok := v.(*celtypes.Optional)
			if !ok {
				return newErr("cannot initialize optional list element from non-optional value %v", v)
			}
			if !opt.HasValue() {
				continue
			}
			v = opt.GetValue()
		}
		vals = append(vals, v)
	}
	return celtypes.NewRefValList(celtypes.DefaultTypeAdapter, vals)
}

func (p *planner) mapLiteral(e ast.Expr) (*code, error) {
	entries := e.AsMap().Entries()
	items := make([]literalItem, len(entries))
	folds := true
	for i, entry := range entries {
		m := entry.AsMapEntry()
		key, err := p.plan(m.Key())
		if err != nil {
			return nil, err
		}
		val, err := p.plan(m.Value())
		if err != nil {
			return nil, err
		}
		items[i] = literalItem{key: key.boxed(), val: val.boxed(), optional: m.IsOptional()}
		folds = folds && key.isConst() && val.isConst()
	}
	if folds {
		v := newMap(nil, items)
		if !celtypes.IsError(v) {
			return constant(v, p.typeOf(e)), nil
		}
		return nil, errUnsupported
	}
	return boxedCode(asLiteral, func(f *frame) ref.Val {
		v := newMap(f, items)
		f.chargeCall(common.MapCreateBaseCost, !celtypes.IsError(v))
		return v
	}), nil
}

func newMap(f *frame, items []literalItem) ref.Val {
	entries := make(map[ref.Val]ref.Val, len(items))
	for i := range items {
		key := items[i].key(f)
		if celtypes.IsUnknownOrError(key) {
			return key
		}
		v := items[i].val(f)
		if celtypes.IsUnknownOrError(v) {
			return v
		}
		if items[i].optional {
			opt, ok := v.(*celtypes.Optional)
			if !ok {
				return newErr("cannot initialize optional entry '%v' from non-optional value %v", key, v)
			}
			if !opt.HasValue() {
				delete(entries, key)
				continue
			}
			v = opt.GetValue()
		}
		if s, ok := key.(celtypes.String); ok && f != nil {
			f.compared(len(s))
		}
		entries[key] = v
	}
	return celtypes.NewRefValMap(celtypes.DefaultTypeAdapter, entries)
}

func (p *planner) messageLiteral(e ast.Expr) (*code, error) {
	msg := e.AsStruct()
	name, ok := p.messageType(msg.TypeName())
	if !ok {
		return nil, errUnsupported
	}
	fields := make([]messageField, len(msg.Fields()))
	for i, field := range msg.Fields() {
		sf := field.AsStructField()
		c, err := p.plan(sf.Value())
		if err != nil {
			return nil, err
		}
		fields[i] = messageField{sf.Name(), literalItem{val: c.boxed(), optional: sf.IsOptional()}}
	}
	provider := p.env.CELTypeProvider()
	return boxedCode(asLiteral, func(f *frame) ref.Val {
		v, made := newMessage(f, provider, name, fields)
		f.chargeCall(common.StructCreateBaseCost, made)
		return v
	}), nil
}

func (p *planner) messageType(name string) (string, bool) {
	for _, full := range p.env.Container.ResolveCandidateNames(name) {
		if _, ok := p.env.CELTypeProvider().FindStructType(full); ok {
			return full, true
		}
	}
	return "", false
}

type messageField struct {
	name string
	literalItem
}

// newMessage also reports whether the provider made the message, which may be an error.
func newMessage(f *frame, provider celtypes.Provider, name string, fields []messageField) (_ ref.Val, made bool) {
	vals := make(map[string]ref.Val, len(fields))
	for i := range fields {
		field := &fields[i]
		v := field.val(f)
		if celtypes.IsUnknownOrError(v) {
			return v, false
		}
		if field.optional {
			opt, ok := v.(*celtypes.Optional)
			if !ok {
				return newErr("cannot initialize optional entry '%v' from non-optional value %v", field.name, v), false
			}
			if !opt.HasValue() {
				delete(vals, field.name)
				continue
			}
			v = opt.GetValue()
		}
		f.make(f.addSizeWork(v, perEqual))
		vals[field.name] = v
	}
	v := provider.NewValue(name, vals)
	checkMessageFields(v, vals)
	return v, true
}
