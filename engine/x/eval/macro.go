package eval

import (
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// How it works: the parser does not keep the names of macros: a.all(x, p) becomes a fold with
// accumulator true, condition @not_strictly_false(accu), and step accu && p. A loop needs no
// accumulator, but charges the variables and calls that the fold would have, in cel-go's order, so
// that a limit is exceeded at the same step.

// macro returns nil if e is not the expansion of a macro that it knows, or if loop does not plan the range.
func (p *planner) macro(e ast.Expr) (*code, error) {
	x := e.AsComprehension()
	m, ok := loops.Of(e)
	tested, added := m.Body, m.Item
	switch {
	case !ok || m.Name == "":
		return nil, nil
	case m.Name == loops.Filter: // the item is the variable
		added = x.LoopStep().AsCall().Args()[1].AsCall().Args()[1].AsList().Elements()[0]
	case tested == added:
		tested = nil
	}
	l, err := p.loop(x)
	if l == nil || err != nil {
		return nil, err
	}
	vars := l.variables(x)
	body := p.watchBody(x, vars)
	defer p.endBody(body)
	var pred testFunc
	if tested != nil {
		c, err := p.within(vars, tested)
		if err != nil {
			return nil, err
		}
		pred = body.test(c.truth(), m.Settled != nil)
	}
	switch m.Name {
	case loops.All:
		return boolCode(l.quantifier(pred, no, 2)), nil
	case loops.Exists:
		return boolCode(l.quantifier(pred, yes, 3)), nil
	case loops.ExistsOne:
		return boolCode(l.existsOne(pred)), nil
	}
	item, err := p.within(vars, added)
	if err != nil {
		return nil, err
	}
	if item.raw != nil && item.decl != nil {
		return listCode(l.collect(pred, body.raw(item.raw, pred == nil), common.ListCreateBaseCost), item.decl), nil
	}
	// A list of a constant item is a constant too, and creating it costs nothing.
	price := uint64(common.ListCreateBaseCost)
	if item.isConst() {
		price = 0
	}
	return boxedCode(asLoop, l.collectBoxed(pred, body.val(item.boxed(), pred == nil, true), price)), nil
}

// quantifier plans all and exists. The loop ends at the element after the deciding one, after the
// fold's condition was charged for it, as in cel-go. An error counts only if no element decides.
func (l *loop) quantifier(pred testFunc, decides truth, condition uint64) testFunc {
	rest := no
	if decides == no {
		rest = yes
	}
	return func(f *frame) truth {
		var c cursor
		if !l.begin(f, &c) {
			return bad
		}
		result := rest
		var err *celtypes.Err
		for l.next(f, &c) {
			if result == decides {
				f.units(condition)
				break
			}
			f.units(condition + 1)
			top := len(f.lists)
			switch pred(f) {
			case decides:
				result = decides
			case bad:
				if err == nil {
					err = f.err
				}
			}
			f.popLists(top)
			if !f.tick() {
				return l.interrupt(f, &c)
			}
		}
		l.end(f, &c)
		f.units(1)
		if result != decides && err != nil {
			f.err = err
			return bad
		}
		return result
	}
}

func (l *loop) interrupt(f *frame, c *cursor) truth {
	l.end(f, c)
	f.err = errInterrupted
	return bad
}

// existsOne evaluates every item. Of several errors, the last is returned.
func (l *loop) existsOne(pred testFunc) testFunc {
	return func(f *frame) truth {
		var c cursor
		if !l.begin(f, &c) {
			return bad
		}
		count := 0
		var err *celtypes.Err
		for l.next(f, &c) {
			top := len(f.lists)
			switch pred(f) {
			case yes:
				f.units(1)
				f.chargeCall(1, err == nil)
				count++
			case bad:
				err = f.err
			}
			f.popLists(top)
			if !f.tick() {
				return l.interrupt(f, &c)
			}
		}
		l.end(f, &c)
		f.units(2)
		if err != nil {
			f.err = err
			return bad
		}
		return truthOf(count == 1)
	}
}

// collect plans filter and map; price is the cost of the list that the expansion makes of each item. An error of the
// predicate replaces an earlier error; an error of the item expression does not.
func (l *loop) collect(pred testFunc, item rawFunc, price uint64) listFunc {
	return func(f *frame) ([]any, bool) {
		var c cursor
		if !l.begin(f, &c) {
			return nil, false
		}
		base := len(f.lists)
		var err *celtypes.Err
		for l.next(f, &c) {
			top := len(f.lists)
			take := yes
			if pred != nil {
				take = pred(f)
			}
			switch take {
			case bad:
				err = f.err
			case yes:
				f.units(1)
				if err != nil && f.errorsEnd {
					f.popLists(top)
					break
				}
				v, ok := item(f)
				f.chargeCall(price, ok)
				f.chargeCall(1, ok)
				f.popLists(top)
				if ok {
					f.lists = append(f.lists, v)
				} else if err == nil {
					err = f.err
				}
			}
			if take != yes {
				f.popLists(top)
			}
			if !f.tick() {
				l.interrupt(f, &c)
				return nil, false
			}
		}
		l.end(f, &c)
		f.units(1)
		if err != nil {
			f.popLists(base)
			f.err = err
			return nil, false
		}
		return f.lists[base:len(f.lists):len(f.lists)], true
	}
}

func (l *loop) collectBoxed(pred testFunc, item valFunc, price uint64) valFunc {
	list := l.collect(pred, func(f *frame) (any, bool) {
		v := item(f)
		if celtypes.IsError(v) {
			f.fail(v)
			return nil, false
		}
		return v, true
	}, price)
	return func(f *frame) ref.Val {
		items, ok := list(f)
		if !ok {
			return f.err
		}
		vals := make([]ref.Val, len(items))
		for i, v := range items {
			vals[i] = v.(ref.Val)
		}
		f.popLists(len(f.lists) - len(items))
		return celtypes.NewRefValList(celtypes.DefaultTypeAdapter, vals)
	}
}
