package assist

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
)

func (p *Context) completeString(src []rune, open lex.Token) Completion {
	quote, raw := open.Start, false
	if q, r := lex.StringPrefix(src, open.Start); q > open.Start {
		quote, raw = q, r
	}
	c := Completion{Start: quote + 1}
	if strings.HasPrefix(string(src[quote:]), strings.Repeat(string(src[quote]), 3)) {
		return c
	}
	v := p.cursor(src[:open.Start])
	if v == nil {
		return c
	}
	q := string(src[quote])
	for _, text := range v.texts() {
		if !raw {
			text = strconv.Quote(text)
			text = text[1 : len(text)-1]
			if q == "'" {
				text = strings.ReplaceAll(strings.ReplaceAll(text, `\"`, `"`), "'", `\'`)
			}
		}
		c.Candidates = append(c.Candidates, Candidate{Text: text + q, Class: ClassText})
	}
	return c.Only(string(src[quote+1:]))
}

// texts returns the known values of the literal at the cursor: the values of the enum that it is compared with, or the
// keys of the map that it indexes.
func (v *view) texts() []string {
	above := v.above(1)
	if above == nil {
		return nil
	}
	if in := v.above(2); above.Kind() == ast.ListKind && in != nil && isCall(in, operators.In) {
		return EnumStrings(v.expr(in.AsCall().Args()[0]).schema)
	}
	switch of := loops.Children(above); {
	case len(of) != 2:
	case isCall(above, operators.Equals), isCall(above, operators.NotEquals):
		if of[0] == v.above(0) {
			of[0] = of[1]
		}
		return EnumStrings(v.expr(of[0]).schema)
	case isCall(above, operators.Index), isCall(above, operators.OptIndex):
		if f := v.expr(of[0]); f.decl != nil && f.decl.Kind == types.Map {
			return Keys(f.values)
		}
	}
	return nil
}

// Keys returns the keys of all maps among values, sorted and without duplicates.
func Keys(values []any) []string {
	keys := map[string]bool{}
	for _, v := range values {
		if m, ok := v.(map[string]any); ok {
			for key := range m {
				keys[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}
