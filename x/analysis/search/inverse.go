package search

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
)

// How it works. A requirement on a part of a string, such as self.split(':')[1], is translated to a
// pattern for the whole string that leaves everything else open. text.go can then intersect it with
// the requirements of other rules on the same string.

// maxRepeat is the maximum repeat count of a pattern, as in package regexp.
const maxRepeat = 1000

// through sets a string that is split so that a part of it meets w. It reports whether it set a value.
func (b *adjuster) through(e ast.Expr, sc *scope, w textWant) bool {
	switch e.Kind() {
	case ast.IdentKind:
		if at := sc.find(e.AsIdent()); at != nil && at.of.list != nil {
			return b.throughPart(at.of.list, at.of.in, at.of.index, w)
		}
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.Index {
			return false
		}
		i, ok := b.eval(call.Args()[1], sc).(celtypes.Int)
		return ok && i >= 0 && i < maxRepeat && b.throughPart(call.Args()[0], sc, int(i), w)
	}
	return false
}

// throughTries is the number of strings that are tried for a part.
const throughTries = 3

// throughUntil calls through until done returns true, and reports whether it did.
func (b *adjuster) throughUntil(e ast.Expr, sc *scope, w textWant, done func() bool) bool {
	for range throughTries {
		if !b.through(e, sc, w) {
			return false
		}
		if done() {
			return true
		}
	}
	return false
}

// A frame holds the patterns around a part of a string, and the pattern for one character of the
// part.
type frame struct{ before, free, after string }

// around returns the requirement on the whole string.
func (f frame) around(w textWant) (whole textWant, ok bool) {
	whole.max = -1
	put := func(to *[]string, patterns []string) {
		for _, p := range patterns {
			inner, fits := filled(p, f.free)
			ok = ok && fits
			*to = append(*to, f.before+`(?:`+inner+`)`+f.after)
		}
	}
	ok = w.min <= maxRepeat
	put(&whole.match, w.match)
	put(&whole.avoid, w.avoid)
	if w.min > 0 || w.max >= 0 || len(w.match) == 0 {
		whole.match = append(whole.match, f.before+f.free+repeat(w.min, w.max)+f.after)
	}
	return whole, ok
}

// filled returns a pattern that matches the whole of any string in which p matches. ok is false if
// p has an anchor that is not at its start or end.
func filled(p, free string) (whole string, ok bool) {
	re, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return "", false
	}
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if re.Op == syntax.OpAlternate {
		var all []string
		for _, sub := range re.Sub {
			one, ok := filled(sub.String(), free)
			if !ok {
				return "", false
			}
			all = append(all, one)
		}
		return strings.Join(all, "|"), true
	}
	subs := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		subs = re.Sub
	}
	before, after := free+"*", free+"*"
	if subs[0].Op == syntax.OpBeginText {
		before, subs = "", subs[1:]
	}
	if len(subs) > 0 && subs[len(subs)-1].Op == syntax.OpEndText {
		after, subs = "", subs[:len(subs)-1]
	}
	var inner strings.Builder
	for _, sub := range subs {
		if hasAssertion(sub) {
			return "", false
		}
		inner.WriteString(`(?:` + sub.String() + `)`)
	}
	return before + inner.String() + after, true
}

// hasAssertion reports whether a pattern has an anchor or a word boundary.
func hasAssertion(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, hasAssertion)
}

// A splitting is a call of split on a string.
type splitting struct {
	of    ast.Expr
	by    string
	sep   string // by, quoted
	free  string // the pattern of one character of a part
	limit int    // maximum number of parts; 0: unlimited
}

func (b *adjuster) splittingOf(e ast.Expr, sc *scope) (s splitting, ok bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "split" {
		return s, false
	}
	call := e.AsCall()
	sep, ok := b.eval(call.Args()[0], sc).(celtypes.String)
	if !ok || sep == "" {
		return s, false
	}
	s = splitting{of: call.Target(), by: string(sep), sep: regexp.QuoteMeta(string(sep)), free: `(?s:.)`}
	if len(sep) == 1 {
		s.free = `[^` + s.sep + `]`
	}
	if len(call.Args()) > 1 {
		limit, ok := b.eval(call.Args()[1], sc).(celtypes.Int)
		if !ok || limit <= 0 || limit > maxRepeat {
			return s, false
		}
		s.limit = int(limit)
	}
	return s, true
}

// throughPart does the same as through for a part of a string that is split, and reports whether
// it set a value.
func (b *adjuster) throughPart(list ast.Expr, sc *scope, i int, w textWant) bool {
	s, ok := b.splittingOf(list, sc)
	if !ok || s.limit > 0 && i >= s.limit {
		return false
	}
	f := frame{before: fmt.Sprintf(`\A(?:%s*%s){%d}`, s.free, s.sep, i), free: s.free, after: `(?:` + s.sep + `(?s:.*))?\z`}
	part := w
	if i+1 == s.limit {
		f.free, f.after = `(?s:.)`, `\z`
	} else {
		part = w.and(textWant{avoid: []string{s.sep}, max: -1})
	}
	whole, ok := f.around(w)
	if one, found := b.m.texts.one(part, b.m.rng); found && b.edit(s, sc, i, one, whole) {
		return true
	}
	return ok && b.wantText(s.of, sc, whole)
}

// edit replaces a part of the current string, if the string then still meets all other
// requirements. It reports whether it did.
func (b *adjuster) edit(s splitting, sc *scope, i int, part string, w textWant) bool {
	h, ok := b.locate(s.of, sc)
	if !ok || h.key {
		return false
	}
	now, _ := b.w.get(h.objectPath)
	text, _ := now.(string)
	limit := s.limit
	if limit == 0 {
		limit = -1
	}
	parts := strings.SplitN(text, s.by, limit)
	if i >= len(parts) {
		return false
	}
	parts[i] = part
	whole := strings.Join(parts, s.by)
	before := b.remembered(h)[0]
	if !b.m.texts.has(b.m.facts(h.node, nil).text.and(before), whole) {
		return false
	}
	b.remember(h, before, w)
	return b.assign(h, whole)
}

// repeat returns the quantifier for min to max repetitions. max < 0 means no upper limit.
func repeat(min, max int) string {
	if max < 0 || max > maxRepeat {
		return fmt.Sprintf("{%d,}", min)
	}
	return fmt.Sprintf("{%d,%d}", min, max)
}

func (h handle) isBytes() bool { return h.node.d != nil && h.node.d.Kind == types.Bytes }
