package eval

import (
	"regexp"
	"strings"

	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// How it works: a constant pattern is compiled when the rule is planned. Each call is charged by
// the pattern's length, as in the API server. The time that Go's engine takes depends on the number
// of the pattern's states and on the length of the text. That is work, which is added before the
// match (work.go).

// affix plans startsWith and endsWith. They cost the reading of y, or of x in versions with
// affixByReceiver.
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
		if inv.overload == overloads.Matches && !p.semantics.has[globalMatches] {
			return boolCode(matchesForOne(x, re)), nil
		}
		return boolCode(matches(x, re, runes(string(pattern)))), nil
	}
	if inv.overload == "string_find_string" && x != nil {
		return stringCode(findText(x, re, runes(string(pattern)))), nil
	}
	b := &binding{semantics: p.semantics, id: inv.id, function: inv.function, overload: inv.overload, arity: len(inv.args), listed: true}
	b.demands = []demand{func(f *frame, args []ref.Val) { f.match(re, textOf(args, 0)) }}
	switch inv.function {
	case overloads.Matches:
		b.variadic = matchBoxed(re.Regexp)
	case "find":
		b.variadic = findBoxed(re.Regexp)
		b.exact = true
	default:
		b.variadic = findAllBoxed(re.Regexp)
		b.demands = []demand{func(f *frame, args []ref.Val) { f.matchAll(re, textOf(args, 0), foundAtMost(args)) }}
	}
	return b.code(inv), nil
}

func matches(x strFunc, re *regexcost.Pattern, pattern uint64) testFunc {
	return func(f *frame) truth {
		s, ok := x(f)
		if !ok {
			return bad
		}
		f.charge(matchCost(f.runes(s), pattern))
		f.match(re, s)
		return truthOf(re.MatchString(s))
	}
}

// matchesForOne plans a match that costs 1.
func matchesForOne(x strFunc, re *regexcost.Pattern) testFunc {
	return func(f *frame) truth {
		s, ok := x(f)
		if !ok {
			return bad
		}
		f.charge(1)
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

func matchBoxed(re *regexp.Regexp) func(args ...ref.Val) ref.Val {
	return func(args ...ref.Val) ref.Val {
		s, ok := args[0].Value().(string)
		if !ok || len(args) != 2 {
			return errNoOverload
		}
		return celtypes.Bool(re.MatchString(s))
	}
}

func findBoxed(re *regexp.Regexp) func(args ...ref.Val) ref.Val {
	return func(args ...ref.Val) ref.Val {
		s, ok := args[0].Value().(string)
		if !ok || len(args) != 2 {
			return errNoOverload
		}
		return celtypes.String(re.FindString(s))
	}
}

func findAllBoxed(re *regexp.Regexp) func(args ...ref.Val) ref.Val {
	return func(args ...ref.Val) ref.Val {
		s, ok := args[0].Value().(string)
		if !ok || len(args) > 3 {
			return errNoOverload
		}
		n := int64(-1)
		if len(args) == 3 {
			if n, ok = args[2].Value().(int64); !ok {
				return errNoOverload
			}
		}
		return celtypes.NewStringList(celtypes.DefaultTypeAdapter, re.FindAllString(s, int(n)))
	}
}
