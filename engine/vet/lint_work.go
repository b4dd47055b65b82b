package vet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

// text limits the length of generated strings, and bytes the total size.
type sizes struct{ text, items, bytes int }

var (
	few  = sizes{text: 1 << 10, items: 16, bytes: 1 << 15}
	more = sizes{text: 1 << 13, items: 64, bytes: 1 << 18}
	// These sizes still fit into a request.
	huge = []sizes{{1 << 20, 64, 5 << 19}, {1 << 20, 3000, 5 << 19}}
)

const (
	maxTrials = 4
	perCall   = 1_000_000 // CEL units
)

// hiddenWork finds expressions that need far more work than their cost suggests. It runs each on small values and, if
// the work extrapolates to too much, on large values.
func hiddenWork(in *inspection) *Lint {
	for _, x := range in.compiledParts() {
		if !maySurprise(x.ast.NativeRep().Expr()) {
			continue
		}
		prog, err := eval.New(x.env, x.ast, x.key.Decl, perCall)
		if err != nil {
			continue
		}
		over, perUnit := tryOn(prog, x.key.Decl, few, eval.MaxWork/64)
		if over != nil {
			return workLint(over, few)
		}
		units, growth := float64(min(x.cost.Max, perCall)), float64(huge[0].text/few.text)
		if perUnit*units*growth < eval.MaxWork || in.unit.trials >= maxTrials {
			continue
		}
		over, next := tryOn(prog, x.key.Decl, more, eval.MaxWork/64)
		slope := max(next-perUnit, 0) / float64(more.text/few.text-1)
		if over == nil && (perUnit+slope*(growth-1))*units < eval.MaxWork {
			continue
		}
		in.unit.trials++
		for _, s := range huge {
			if over, _ := tryOn(prog, x.key.Decl, s, eval.MaxWork/4); over != nil {
				return workLint(over, s)
			}
		}
	}
	return nil
}

// linear holds functions whose work without a loop is at most proportional to the size of the object.
var linear = []string{
	operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
	operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional, operators.Index, operators.OptIndex,
	operators.OptSelect, operators.In, operators.Add, operators.Subtract, operators.Negate,
	"size", "startsWith", "endsWith", "contains", "hasValue", "value", "orValue", "int", "string", "double", "duration", "timestamp",
}

func maySurprise(e ast.Expr) bool {
	return anyPart(e, func(e ast.Expr) bool {
		return e.Kind() == ast.ComprehensionKind || e.Kind() == ast.CallKind && !slices.Contains(linear, e.AsCall().FunctionName())
	})
}

func workLint(over *eval.OverworkError, s sizes) *Lint {
	return &Lint{Message: fmt.Sprintf("the rule can take far more work than its cost suggests (%v) on a value with strings of up to %s bytes and lists of up to %s items: set maxLength, maxItems, and maxProperties, or move the call out of the loop", over, phrase.Number(uint64(s.text)), phrase.Number(uint64(s.items)))}
}

// perUnit is the work for a unit of cost. over is nil unless the work exceeds limit.
func tryOn(prog *eval.Program, d *types.Decl, s sizes, limit uint64) (over *eval.OverworkError, perUnit float64) {
	m := &maker{sizes: s, left: s.bytes}
	v := m.value(d, s.text, 0)
	a := eval.BindOld(d, v, v)
	a.LimitWork(limit)
	out := prog.Eval(context.Background(), a)
	errors.As(out.Err, &over)
	return over, float64(a.Work()) / max(float64(out.Cost), 1)
}

type maker struct {
	sizes
	left int // in bytes
}

const maxDepth = 12

func (m *maker) value(d *types.Decl, text, depth int) any {
	switch d.Kind {
	case types.Object:
		fields := map[string]any{}
		for _, name := range d.FieldNames() {
			if f := d.Fields[name]; f.Visible() && depth < maxDepth {
				m.left -= len(name) + 4
				fields[name] = m.value(f.Decl, text, depth+1)
			}
		}
		return fields
	case types.Map:
		entries := map[string]any{}
		n := m.count(d)
		for i := range n {
			m.left -= 12
			entries[fmt.Sprintf("key-%d", i)] = m.value(d.Elem, text/n, depth+1)
		}
		return entries
	case types.List:
		n := m.count(d)
		items := make([]any, n)
		for i := range items {
			items[i] = m.value(d.Elem, text/n, depth+1)
		}
		return items
	}
	return m.scalar(d, text)
}

func (m *maker) count(d *types.Decl) int {
	n := min(int64(m.items), d.Max.Max)
	if m.left <= 0 {
		n = min(n, 1)
	}
	return int(max(n, 1))
}

func (m *maker) scalar(d *types.Decl, text int) any {
	m.left -= 8
	if v := d.Schema.ValueValidation; v != nil && len(v.Enum) > 0 {
		return v.Enum[0].Object
	}
	switch d.Kind {
	case types.Bool:
		return true
	case types.Int, types.IntOrString:
		return int64(1)
	case types.Double:
		return 1.5
	case types.Duration:
		return "1h"
	case types.Date:
		return "2024-02-03"
	case types.Timestamp:
		return time.Unix(0, 0).UTC().Format(time.RFC3339)
	case types.String, types.Bytes:
		n := int(min(int64(min(text, max(m.left, 1))), d.Max.Max, math.MaxInt32))
		n = max(n/4*4, 4)
		m.left -= n
		return strings.Repeat("a", n)
	}
	return map[string]any{}
}
