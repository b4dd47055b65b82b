package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/celvalue"
)

// How it works: below dyn, on optionals, and on values returned by functions, lookups depend on the
// value at run time. This file follows cel-go's qualification (interpreter/attributes.go), with the
// same errors. That includes which values cannot be keys, which failed steps are charged, and that
// all steps after an optional are optional.

func (m *semantics) boxedPath(a *attribute, counted bool) valFunc {
	var root valFunc
	// onError is set if the first step is tried on an error as well, unless the error is absent.
	var absent *celtypes.Err
	onError := false
	if a.variable != nil {
		root, absent, onError = a.variable.boxed(), a.variable.absent, m.has[errorSteps] && len(a.qualifiers) > 0
	} else {
		root = a.operand.boxed()
	}
	steps, unwrap, has, key := boxedSteps(a.qualifiers), m.unwrap(), a.has, a.key
	take := func(f *frame) (v ref.Val, found bool) {
		v = root(f)
		if err, isErr := v.(*celtypes.Err); !isErr || onError && err != absent {
			v, found = takeSteps(f, v, celvalue.Fields(v), steps, unwrap)
		}
		return v, found
	}
	if v, all := a.variable, take; v != nil && len(steps) > 0 && steps[0].name != "" && !steps[0].optional {
		take = func(f *frame) (ref.Val, bool) {
			if fields := v.fields(f); fields != nil {
				return takeSteps(f, nil, fields, steps, unwrap)
			}
			return all(f)
		}
	}
	return func(f *frame) ref.Val {
		v, found := take(f)
		if key && found && celtypes.IsError(v) {
			return errKeyIsError
		}
		if !counted {
			return v
		}
		if !has {
			f.charge(1)
			return v
		}
		if opt, ok := v.(*celtypes.Optional); ok {
			return celtypes.Bool(opt.HasValue())
		}
		return v
	}
}

func (m *semantics) unwrap() func(*celtypes.Optional) ref.Val {
	if m.has[goOptionals] {
		return goValue
	}
	return (*celtypes.Optional).GetValue
}

type boxedStep struct {
	key            valFunc
	optional, test bool
	field          string // the selected field, if the operand is a celenv.ObjectValue
	name           string // the key if it is a constant string, or ""
}

func boxedSteps(qualifiers []qualifier) []boxedStep {
	steps := make([]boxedStep, len(qualifiers))
	for i, q := range qualifiers {
		steps[i] = boxedStep{key: q.key.boxed(), optional: q.optional, test: q.test}
		if name, ok := q.key.constant.(celtypes.String); ok {
			if steps[i].name = string(name); q.field {
				steps[i].field = string(name)
			}
		}
	}
	return steps
}

// takeSteps takes steps from v and reports whether it found a value. The value can be an error: a list item that does
// not fit its declaration. fields are those of v if it has no schema; v can then be nil if the first step selects one of them.
func takeSteps(
	f *frame, v ref.Val, fields map[string]any, steps []boxedStep, unwrap func(*celtypes.Optional) ref.Val,
) (_ ref.Val, found bool) {
	opt, isOpt := v.(*celtypes.Optional)
	if isOpt {
		if !opt.HasValue() {
			return opt, true
		}
		v = unwrap(opt)
	}
	for i := range steps {
		s := &steps[i]
		if isOpt = isOpt || s.optional; fields != nil && s.name != "" && !isOpt {
			f.work(2 * len(s.name))
			item, present := fields[s.name]
			f.charge(1)
			if !present && !s.test {
				return noSuchKey(celtypes.String(s.name)), false
			}
			if fields, _ = item.(map[string]any); s.test {
				v, fields = celtypes.Bool(present), nil
			} else if fields == nil || i+1 == len(steps) || steps[i+1].name == "" || steps[i+1].optional {
				if v = celvalue.Untyped(item); celtypes.IsError(v) {
					return v, false
				}
			}
			continue
		}
		key := s.key(f)
		if err := keyError(key); err != nil {
			if isOpt {
				f.chargeFailure()
			} else {
				f.charge(1)
			}
			return err, false
		}
		if isOpt {
			found, present, err := f.lookup(v, key, true)
			if err != nil {
				f.chargeFailure()
				return err, false
			}
			if !present {
				return celtypes.OptionalNone, true
			}
			f.charge(1)
			v = found
			continue
		}
		found, present, err := f.take(s, v, key)
		f.charge(1)
		switch {
		case err != nil:
			return err, false
		case s.test:
			v = celtypes.Bool(present)
		default:
			v = found
		}
		fields = celvalue.Fields(v)
	}
	if isOpt {
		return celtypes.OptionalOf(v), true
	}
	return v, true
}

// goValue returns the value of an optional as decoded JSON, without its declaration.
func goValue(opt *celtypes.Optional) ref.Val {
	return celtypes.DefaultTypeAdapter.NativeToValue(opt.GetValue().Value())
}

var errKeyIsError = newErr("invalid qualifier type: %T", errNoOverload)

func keyError(key ref.Val) *celtypes.Err {
	switch key := key.(type) {
	case celtypes.String, celtypes.Int, celtypes.Uint, celtypes.Bool, celtypes.Double:
		return nil
	case *celtypes.Err:
		return key
	}
	return newErr("invalid qualifier type: %s", celvalue.GoType(key))
}

func (f *frame) take(s *boxedStep, v, key ref.Val) (found ref.Val, present bool, err *celtypes.Err) {
	object, ok := v.(*celenv.ObjectValue)
	if !ok || s.field == "" {
		return f.lookup(v, key, s.test)
	}
	f.addSizeWork(object, perField)
	found, present, invalid := object.Field(s.field)
	if invalid != nil && !s.test {
		return nil, false, celtypes.WrapErr(invalid).(*celtypes.Err)
	}
	return found, present, nil
}

// perField is the work for each byte of an object that is converted to select a field.
const perField = 2

// lookup selects key from v. If presence is set, an absent key is not an error.
func (f *frame) lookup(v, key ref.Val, presence bool) (found ref.Val, present bool, err *celtypes.Err) {
	f.parsed(celvalue.Parsed(v, key))
	if s, ok := key.(celtypes.String); ok {
		f.work(2 * len(s)) // to look it up, or to name it in an error
	}
	switch v := v.(type) {
	case *celtypes.Err:
		return nil, false, v
	case traits.Mapper:
		found, present = v.Find(key)
		if err, ok := found.(*celtypes.Err); ok {
			return nil, false, err
		}
		if !present && !presence {
			return nil, false, noSuchKey(key)
		}
		return found, present, nil
	case traits.Lister:
		return listLookup(v, key, presence)
	case traits.Indexer:
		if tester, ok := v.(traits.FieldTester); ok && presence {
			switch set := tester.IsSet(key).(type) {
			case *celtypes.Err:
				return nil, false, set
			case celtypes.Bool:
				if !set {
					return nil, false, nil
				}
			}
		}
		found = v.Get(key)
		if err, ok := found.(*celtypes.Err); ok {
			return nil, false, err
		}
		return found, true, nil
	}
	if presence {
		return nil, false, nil
	}
	return nil, false, noSuchKey(key)
}

// listLookup does not report an item that is an error.
func listLookup(l traits.Lister, key ref.Val, presence bool) (ref.Val, bool, *celtypes.Err) {
	i, err := celtypes.IndexOrError(key)
	if err != nil {
		return nil, false, celtypes.WrapErr(err).(*celtypes.Err)
	}
	if size, _ := l.Size().(celtypes.Int); i >= 0 && celtypes.Int(i) < size {
		return l.Get(key), true, nil
	}
	if presence {
		return nil, false, nil
	}
	return nil, false, outOfBounds(key)
}

func noSuchKey(key ref.Val) *celtypes.Err { return newErr("no such key: %v", key) }

func outOfBounds(key ref.Val) *celtypes.Err { return newErr("index out of bounds: %v", key) }

// testOfCondition plans has() on a conditional. Before errorsEnd, CEL charges one unit less than c did.
func testOfCondition(c *code) valFunc {
	val := c.boxed()
	return func(f *frame) ref.Val {
		v := val(f)
		if !f.errorsEnd {
			f.charge(^uint64(0))
		}
		if opt, ok := v.(*celtypes.Optional); ok {
			return celtypes.Bool(opt.HasValue())
		}
		return v
	}
}
