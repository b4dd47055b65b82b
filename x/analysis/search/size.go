package search

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// size makes the number of elements or characters at least lo and at most hi. hi < 0 means no upper bound.
func (b *adjuster) size(e ast.Expr, sc *scope, lo, hi int) bool {
	if b.spent() {
		return false
	}
	if h, ok := b.locate(e, sc); ok {
		return b.sizeAt(h, lo, hi)
	}
	if b.isText(e) {
		return b.wantText(e, sc, textWant{min: lo, max: hi})
	}
	if e.Kind() == ast.CallKind {
		switch call := e.AsCall(); call.FunctionName() {
		case operators.Conditional:
			return b.conditional(call.Args(), sc, func(branch ast.Expr) bool { return b.size(branch, sc, lo, hi) })
		case "split":
			return b.sizeSplit(call, sc, lo, hi)
		}
	}
	return b.resize(func() []binding { return b.elements(e, sc) }, func() bool { return b.grow(e, sc) }, lo, hi)
}

func (b *adjuster) resize(elements func() []binding, grow func() bool, lo, hi int) bool {
	if lo > maxItems {
		return false
	}
	for n := len(elements()); n < lo; {
		if b.spent() || !grow() {
			return false
		}
		more := len(elements())
		if more <= n {
			return false
		}
		n = more
	}
	for {
		all := elements()
		if hi < 0 || len(all) <= hi {
			return true
		}
		if b.spent() || !b.dropElement(all[len(all)-1]) {
			return false
		}
	}
}

func (b *adjuster) sizeAt(h handle, lo, hi int) bool {
	if h.key || h.node.kind() == "string" || h.node.kind() == "intOrString" {
		return b.textAt(h, textWant{min: lo, max: hi})
	}
	if f := b.m.facts(h.node, nil); lo > maxItems || hi >= 0 && hi < max(f.minItems, f.minProperties) {
		return false
	}
	if _, ok := b.w.get(h.objectPath); !ok && !b.ensure(h.objectPath) {
		return false
	}
	return b.resize(func() []binding { return b.elementsAt(h.objectPath) }, func() bool { return b.add(h.objectPath) }, lo, hi)
}

func (b *adjuster) sizeSplit(call ast.CallExpr, sc *scope, lo, hi int) bool {
	const maxRepeat = 1000 // Go's regexp rejects larger counts
	sep, _ := b.eval(call.Args()[0], sc).(celtypes.String)
	if len(sep) != 1 || len(call.Args()) > 1 || lo > maxRepeat || hi == 0 {
		return false
	}
	most := ""
	if 0 < hi && hi <= maxRepeat {
		most = strconv.Itoa(hi - 1)
	}
	p := fmt.Sprintf(`\A(?:[^%[1]s]+%[1]s){%[2]d,%[3]s}[^%[1]s]+\z`, regexp.QuoteMeta(string(sep)), max(lo-1, 0), most)
	return b.wantText(call.Target(), sc, textWant{match: []string{p}, max: -1})
}

func (b *adjuster) isText(e ast.Expr) bool {
	t := b.r.program.parts.Type(e)
	return t != nil && t.Kind() == celtypes.StringKind
}
