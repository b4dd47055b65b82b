package eval

import (
	"strings"

	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// How it works: a constant pattern is compiled when the rule is planned. The time that Go's engine takes depends on the
// number of the pattern's states and on the length of the text. That is work, which is added before the match
// (work.go).

func (m *semantics) affix(x, y strFunc, has func(s, t string) bool) testFunc {
	byReceiver := m.has[affixByReceiver]
	return func(f *frame) truth {
		s, okS, t, okT := pair(f, x, y)
		if byReceiver {
			f.charge(scanCost(f.sizeOrOne(s, okS)))
		} else {
			f.chargeCall(scanCost(f.sizeOrOne(t, okT)), okS && okT)
		}
		if !okS || !okT {
			return bad
		}
		return truthOf(has(s, t))
	}
}

func containsText(x, y strFunc) testFunc {
	return func(f *frame) truth {
		s, okS, t, okT := pair(f, x, y)
		f.chargeCall(scanCost(f.sizeOrOne(s, okS))*scanCost(f.sizeOrOne(t, okT)), okS && okT)
		if !okS || !okT {
			return bad
		}
		return truthOf(strings.Contains(s, t))
	}
}

// regexCall plans matches, find, and findAll with a constant pattern, which is compiled now. As in
// cel-go, the pattern is then not an evaluated argument, so the call is not charged if the text is
// an error.
func (p *planner) regexCall(inv *invocation) (*code, error) {
	if len(inv.args) < 2 {
		return nil, nil
	}
	pattern, ok := inv.args[1].constant.(celtypes.String)
	if !ok {
		return nil, nil
	}
	re, err := p.regexp(string(pattern))
	if err != nil {
		return nil, err
	}
	x := inv.args[0].strings()
	if x != nil && (inv.overload == overloads.Matches || inv.overload == overloads.MatchesString) {
		forOne := inv.overload == overloads.Matches && !p.semantics.has[globalMatches]
		return boolCode(matches(x, re, runes(string(pattern)), forOne)), nil
	}
	if inv.overload == "string_find_string" && x != nil {
		return stringCode(findText(x, re, runes(string(pattern)))), nil
	}
	b := &binding{semantics: p.semantics, id: inv.id, function: inv.function, overload: inv.overload, arity: len(inv.args), listed: true}
	b.demands = []demand{func(f *frame, args []ref.Val) { f.match(re, textOf(args, 0)) }}
	switch inv.function {
	case overloads.Matches:
		b.variadic = boxedSearch(2, func(s string, _ int) ref.Val { return celtypes.Bool(re.MatchString(s)) })
	case "find":
		b.variadic = boxedSearch(2, func(s string, _ int) ref.Val { return celtypes.String(re.FindString(s)) })
		b.exact = true
	default:
		b.variadic = boxedSearch(3, func(s string, n int) ref.Val {
			return celtypes.NewStringList(celtypes.DefaultTypeAdapter, re.FindAllString(s, n))
		})
		b.demands = []demand{func(f *frame, args []ref.Val) { f.matchAll(re, textOf(args, 0), foundAtMost(args)) }}
	}
	return b.code(inv), nil
}

func matches(x strFunc, re *regexcost.Pattern, pattern uint64, forOne bool) testFunc {
	return func(f *frame) truth {
		s, ok := x(f)
		if !ok {
			return bad
		}
		if forOne {
			f.charge(1)
		} else {
			f.charge(matchCost(f.runes(s), pattern))
		}
		f.match(re, s)
		return truthOf(re.MatchString(s))
	}
}

func findText(x strFunc, re *regexcost.Pattern, pattern uint64) strFunc {
	return func(f *frame) (string, bool) {
		s, ok := x(f)
		if !ok {
			return "", false
		}
		f.charge(matchCost(f.runes(s), pattern))
		f.match(re, s)
		return re.FindString(s), true
	}
}

// boxedSearch returns a function that searches its first argument, a string, and accepts at most the
// given number of arguments. The second is the pattern. n is the third, or -1.
func boxedSearch(arguments int, search func(s string, n int) ref.Val) func(args ...ref.Val) ref.Val {
	return func(args ...ref.Val) ref.Val {
		s, ok := args[0].Value().(string)
		if !ok || len(args) > arguments {
			return errNoOverload
		}
		n := int64(-1)
		if len(args) == 3 {
			if n, ok = args[2].Value().(int64); !ok {
				return errNoOverload
			}
		}
		return search(s, int(n))
	}
}
