package celenv_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

// The expressions of TestLanguageOfMinor depend on the cel-go version of a server.
func TestLanguageOfMinor(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(schemas.Structural(t, `{type: object, properties: {a-b: {type: string}, l: {type: array, items: {type: integer}}}}`), types.Subtree)
	const newRules, stored = 1, 2
	tests := []struct {
		src     string
		since   int // first minor that accepts it
		last    int // last minor that accepts it, or 0
		rules   int
		failure string
	}{
		// cel-go 0.23.0, cel/library.go, OptionalTypesVersion 2
		{src: `optional.unwrap([optional.of(1)]) == [1]`, since: 33, rules: newRules | stored, failure: "undeclared reference to 'optional'"},
		{src: `[optional.of(1)].unwrapOpt() == [1]`, since: 33, rules: newRules | stored, failure: "undeclared reference to 'unwrapOpt'"},
		{src: `self.l.first().hasValue()`, since: 33, rules: newRules | stored, failure: "undeclared reference to 'first'"},
		{src: `self.l.last().hasValue()`, since: 33, rules: newRules | stored, failure: "undeclared reference to 'last'"},
		// cel-go 0.17.0, cel/library.go, OptionalTypesVersion 1
		{src: `self.?l.optFlatMap(x, x[?0]).hasValue()`, since: 29, rules: stored, failure: "undeclared reference to 'optFlatMap'"},
		{src: `self.?l.optFlatMap(x, x[?0]).hasValue()`, since: 29, rules: newRules, failure: "unsupported syntax '.?'"},
		{src: `self.?l.optMap(x, x[0]).hasValue()`, since: 28, rules: stored},
		{src: `self.?l.optMap(x, x[0]).hasValue()`, since: 29, rules: newRules},
		// cel-go 0.17.0, cel/options.go, HomogeneousAggregateLiterals
		{src: `[dyn(1), 'a'].size() > 0 && [[], [1]].size() > 0 && {'a': dyn(1), 'b': 'c'}.size() > 0`, last: 28, rules: newRules | stored, failure: "expected type"},
		{src: `[1, 'a'].size() > 0`, since: 99, rules: newRules | stored, failure: "expected type 'int' but found 'string'"},
		{src: `{1: 'a', 'b': 'c'}.size() > 0`, since: 99, rules: newRules | stored, failure: "expected type 'int' but found 'string'"},
		// cel-go 0.23.0, parser/parser.go, HiddenAccumulatorName
		{src: `self.l.all(x, __result__)`, last: 32, rules: newRules | stored, failure: "undeclared reference to '__result__'"},
		{src: `self.l == [1].map(x, size(__result__))`, last: 32, rules: newRules | stored, failure: "undeclared reference to '__result__'"},
		// cel-go 0.20.0, ext/strings.go, validateFormat
		{src: `'%d'.format(['a']) == ''`, since: 29, last: 30, rules: stored, failure: "format"},
		{src: `'%d'.format(['a']) == ''`, since: 30, last: 30, rules: newRules, failure: "format"},
		// cel-go 0.23.0, parser/unescape.go, unescapeChar
		{src: `'\ud83d\ude00' == '\ufffd\ufffd'`, last: 32, rules: newRules | stored, failure: "invalid unicode code point"},
		{src: `'\U0000d800' != 'a'`, last: 32, rules: newRules | stored, failure: "invalid unicode code point"},
		{src: `'\U00110000' != 'a'`, since: 99, rules: newRules | stored},
		// cel-go 0.27.0, checker/env.go, resolveIdent
		{src: `['a'].all(google, google.protobuf.Timestamp == type(timestamp(0)))`, last: 36, rules: newRules | stored, failure: "does not support field selection"},
		{src: `[1].all(self, .self == 1)`, last: 36, rules: newRules | stored, failure: "found no matching overload"},
		{src: `[{'l': 1}].all(self, .self.l == 1)`, last: 36, rules: newRules | stored, failure: "found no matching overload"},
		{src: `[{'l': [1]}].all(self, self.l == [1])`, rules: newRules | stored},
		// cel-go 0.29.0, parser/parser.go, enableIdentEscapeSyntax
		{src: "{'a-b': 1}.`a-b` == 1", since: 37, rules: newRules | stored},
		// cel-go 0.33.2, checker/types.go, internalIsAssignable
		{src: `type([]) == int`, last: 37, rules: newRules | stored, failure: "found no matching overload for '_==_' applied to '(type(list(dyn)), type(int))'"},
		{src: `type([]) in [int]`, last: 37, rules: newRules | stored, failure: "for '@in' applied to '(type(list(dyn)), list(type(int)))'"},
		{src: `[[]].all(x, type(x) == int)`, last: 37, rules: newRules | stored, failure: "applied to '(type(list(dyn)), type(int))'"},
		{src: `type({}) != type([]) || type(type([])) == type`, last: 37, rules: newRules | stored, failure: "(type(type(list(dyn))), type(type))"},
		{src: `type([]) == list && type([[]]) == type([[1]]) && type([1]) != int && dyn(type([])) != int`, rules: newRules | stored},
	}
	for _, tt := range tests {
		for minor := types.Oldest; minor <= types.Last; minor++ {
			v := types.Version{Minor: minor}
			want := minor >= tt.since && (tt.last == 0 || minor <= tt.last)
			if tt.rules&newRules != 0 {
				compilesTo(t, v.String()+" new", celenv.NewRules(v), d, tt.src, want, tt.failure)
			}
			if tt.rules&stored != 0 {
				compilesTo(t, v.String()+" stored", celenv.StoredRules(v), d, tt.src, want, tt.failure)
			}
		}
	}
}

func TestUndeclaredCalls(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(schemas.Structural(t, `{type: integer}`), types.Subtree)
	for src, want := range map[string]string{
		`self == self.f(1)`:         "no matching overload for '_==_' applied to '(int, <nil>)'",
		`!self.f(1).g()`:            "no matching overload for '!_' applied to '(<nil>)'",
		`self.f().size() == 1`:      "no matching overload for 'size' applied to '<nil>.()'",
		`self.f() == self.g()`:      "undeclared reference to 'g'",
		`f() == self || self.f()`:   "no matching overload for '_||_' applied to '(bool, <nil>)'",
		`self.f().a == 1`:           "type '<nil>' does not support field selection",
		`self.f().all(x, x > self)`: "expression of type '<nil>' cannot be range of a comprehension",
		`self.a || self > 1`:        "type 'primitive:INT64' does not support field selection",
		`self && true`:              "no matching overload for '_&&_' applied to '(int, bool)'",
		`dyn(f()) == x`:             "undeclared reference to 'x'",
	} {
		for minor := types.Oldest; minor <= types.Newest; minor++ {
			_, _, err := celenv.NewRules(types.Version{Minor: minor}).Compile(d, false, src)
			if err == nil {
				t.Fatalf("1.%d: %s compiles", minor, src)
			}
			text := err.Error()
			if minor == 28 && !strings.Contains(text, want) || minor > 28 && (strings.Contains(text, "<nil>") || strings.Contains(text, "_&&_")) {
				t.Errorf("1.%d: %s: got %s", minor, src, text)
			}
		}
	}
}

func TestFormatPanics(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(schemas.Structural(t, `{type: string}`), types.Subtree)
	for minor := 30; minor <= types.Newest; minor++ {
		env := celenv.StoredRules(types.Version{Minor: minor})
		scope, err := env.Scope()
		if err != nil {
			t.Fatal(err)
		}
		for src, panics := range map[string]bool{`self.format([1]) == 'a'`: minor == 31, `'%d'.format([1]) == self`: false} {
			_, inScope := scope.Compile(d, false, src)
			_, _, alone := env.Compile(d, false, src)
			for _, err := range []error{inScope, alone} {
				var p *celenv.PanicError
				if got := errors.As(err, &p); got != panics || !panics && err != nil {
					t.Errorf("1.%d: %s: got %v, want panic %t", minor, src, err, panics)
				}
			}
		}
	}
}

func compilesTo(t *testing.T, name string, env *celenv.Env, d *types.Decl, src string, want bool, failure string) {
	t.Helper()
	scope, err := env.Scope()
	if err != nil {
		t.Fatal(err)
	}
	_, err = scope.Compile(d, false, src)
	errs := []error{err}
	if newest.Minor < 38 || !strings.Contains(src, "type(") { // cel-go decides which types can be compared
		_, _, alone := env.Compile(d, false, src)
		errs = append(errs, alone)
	}
	for _, err := range errs {
		if got := err == nil; got != want || err != nil && !strings.Contains(err.Error(), failure) {
			t.Errorf("%s: %s: compiles %t, want %t with %q: %v", name, src, got, want, failure, err)
		}
	}
}
