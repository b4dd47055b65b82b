package assist_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/x/assist"
)

func cronTab(t testing.TB) *expr.Compiler {
	t.Helper()
	data, err := os.ReadFile("../../examples/crontab/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	root, err := e.At("", "")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := access.Compiler(root)
	if err != nil {
		t.Fatal(err)
	}
	return compiler
}

func TestMend(t *testing.T) {
	compiler, p := cronTab(t), placeIn(t, "../../examples/crontab/crd.yaml", "")
	for _, c := range []struct{ src, want, fixed string }{
		{"self.spec.replicas = 3", "use == to compare; = is not a CEL operator", "self.spec.replicas == 3"},
		{"self.spec.replicas === 3", "use == to compare; === is not a CEL operator", "self.spec.replicas == 3"},
		{"self.spec.replicas !== 3", "use != to compare; !== is not a CEL operator", "self.spec.replicas != 3"},
		{"self.spec.replicas <> 3", "use != to compare; <> is not a CEL operator", "self.spec.replicas != 3"},
		{"self.spec.replicas =< 3", "use <=; =< is not a CEL operator", "self.spec.replicas <= 3"},
		{"true and false", "use && to join conditions; and is not a CEL operator", "true && false"},
		{"true or\n  false", "use || to join conditions; or is not a CEL operator", "true || false"},
		{"not true", "use ! to negate; not is not a CEL operator", "!true"},
		{"true && not false", "use ! to negate; not is not a CEL operator", "true && !false"},
		{"true & false", "use && to join conditions; & is not a CEL operator", "true && false"},
		{"true | false", "use || to join conditions; | is not a CEL operator", "true || false"},
		{"self.spec.image =~ 'a'", "use text.matches('^[a-z]+$') to match a pattern; =~ is not a CEL operator", "self.spec.image.matches('^[a-z]+$')"},
		{"self.spec.image ?? 'a'", "use self.?name.orValue('none') for a default value; ?? is not a CEL operator", "self.spec.?image.orValue('none')"},
		{"self?.spec", "use .? to select a field that may be absent, not ?.", "self.?spec"},
		{"self.spec.replicas ** 2", "multiply instead; CEL has no ** operator", "self.spec.replicas * self.spec.replicas"},
		{"self->spec", "write a comma, or a dot to select a field; the first argument of a macro is its variable: list.all(e, e > 0)", "self.spec"},
		{"self.spec.env.map(e => e.name)", "write a comma; the first argument of a macro is its variable: list.all(e, e > 0)", "self.spec.env.map(e, e.name)"},
		{"$self.spec", "CEL has no $: write self, or a field, without it", "self.spec"},
		{"true; false", "only one expression is allowed: use && to join conditions", "true && false"},
		{"true, false", "only one expression is allowed: use && to join conditions", "true && false"},
		{"'abc", "the string has no closing quote", "'abc'"},
		{"self.spec.env.0", "use brackets for an element: [0]", "self.spec.env[0]"},
		{"size(self.spec.env", "a ( is not closed", "size(self.spec.env)"},
		{"1 + 2)", "this ) has no opening bracket", "1 + 2"},
		{"if self.spec.replicas > 1", `CEL has no if: use condition ? value : other, or !a || b for "if a, then b must hold"`, "!(self.spec.replicas > 1) || true"},
		{"self.spec.image.in(['a'])", "use value in list; in is an operator", "self.spec.image in ['a']"},

		{"1 + 'a'", "+ joins strings only with strings: write '… %s …'.format([…]), because the estimated cost of a CRD's rule has no bound with string(…) of a number", "'%da'.format([1])"},
		{"self.spec.image + self.spec.replicas", "+ joins strings only with strings: write '… %s …'.format([…]), because the estimated cost of a CRD's rule has no bound with string(…) of a number", "'%s%d'.format([self.spec.image, self.spec.replicas])"},
		{"[1] + 2", "+ joins lists only with lists: put the element in [ ]", "[1] + [2]"},
		{"1 + 1.5", "an integer and a double do not mix: write 2 instead of 2.0, or convert with double(…) or int(…)", "double(1) + 1.5"},
		{"self.spec.replicas > '1'", "a string and an integer do not mix: convert with string(…) or int(…), or remove the quotes", "self.spec.replicas > 1"},
		{"self.spec.suspended == 'true'", "true and false are not strings: remove the quotes", "self.spec.suspended == true"},
		{"self.spec.image == null", "this is never null; to test whether it is absent, use !has(self.spec.image)", "!has(self.spec.image)"},
		{"null != self.spec.image", "this is never null; to test whether it is present, use has(self.spec.image)", "has(self.spec.image)"},
		{"self.spec.env[0].name.split('')[0] == null", "this is never null; to test whether a field is present, use has(self.name)", "has(self.metadata.name)"},
		{"self.spec.?image == 'a'", "an optional is not a value: end with .orValue(…), or test .hasValue()", "self.spec.?image.orValue('') == 'a'"},
		{"self.spec.?image.orValue(1) == 1", "the default for an absent value must have its type: a string", "self.spec.?image.orValue('') == ''"},
		{"1 < self.spec.replicas < 5", "comparisons do not chain: use 1 < x && x < 5", "1 < self.spec.replicas && self.spec.replicas < 5"},
		{"!self.spec.replicas", "an integer is not a condition: use has(self.spec.replicas) if it must be present, or self.spec.replicas != 0", "self.spec.replicas != 0"},
		{"self.spec.image && true", "a string is not a condition: use has(self.spec.image) if it must be present, or self.spec.image != ''", "self.spec.image != '' && true"},
		{"self.spec.env && true", "a list is not a condition: use has(self.spec.env) if it must be present, or size(self.spec.env) > 0", "size(self.spec.env) > 0 && true"},
		{"self.spec.replicas ? 1 : 2", "an integer is not a condition: use has(self.spec.replicas) if it must be present, or self.spec.replicas != 0", "self.spec.replicas != 0 ? 1 : 2"},
		{"true ? 1 : 'a'", "both values must have the same type: convert one, for example with string(…), or both with dyn(…)", "true ? string(1) : 'a'"},
		{"'a' in self.spec.image", "in works on lists and maps; for a string, use self.spec.image.contains('a')", "self.spec.image.contains('a')"},
		{"'image' in self.spec", "in works on lists and maps; for an object, use has(self.spec.name)", "has(self.spec.image)"},
		{"self.spec.image in ['a', 1]", "all elements must have the same type: convert one, or each with dyn(…)", "self.spec.image in ['a', string(1)]"},
		{"self.spec.env.contains('a')", "contains is a method of strings: use 'a' in self.spec.env", "'a' in self.spec.env.map(e, e.name)"},
		{"self.spec.replicas.matches('a')", "matches is a method of strings: convert with string(self.spec.replicas)", "string(self.spec.replicas).matches('a')"},
		{"self.spec.env['a']", "a list index is a number, such as [0]; to select by name, use self.spec.env.filter(e, e.name == 'x')", "self.spec.env.filter(e, e.name == 'x')"},
		{"has(self.spec.env[0])", "has() takes a field: has(self.name); for a map use 'key' in self.labels, for a list size(self.items) > 0", "size(self.spec.env) > 0"},

		{"self.spec.env.name", "self.spec.env is a list: select a field of one element, self.spec.env[0].name, or of each, self.spec.env.all(e, e.name …)", "self.spec.env[0].name"},
		{"self.spec.image.length", "use size(), which takes a string, a list, or a map", "self.spec.image.size()"},
		{"self.spec.image.length()", "use size(), which takes a string, a list, or a map", "self.spec.image.size()"},
		{"len(self.spec.env)", "use size(), which takes a string, a list, or a map", "size(self.spec.env)"},
		{"self.spec.image.size", "did you mean size()", "self.spec.image.size()"},
		{"self.spec.image.startswith('a')", "did you mean startsWith", "self.spec.image.startsWith('a')"},
		{"self.spec.image.toLowerCase()", "use .lowerAscii()", "self.spec.image.lowerAscii()"},
		{"self.spec.env.any(e, true)", "use list.exists(e, e > 0)", "self.spec.env.exists(e, true)"},
		{"self.spec.env.all(true)", "the first argument of a macro is its variable: self.spec.env.all(e, …)", "self.spec.env.all(e, true)"},
		{"self.spec.replica", "did you mean replicas", "self.spec.replicas"},
		{"spec.replicas", "did you mean self.spec", "self.spec.replicas"},
		{"this.spec", "the value is called self", "self.spec"},
		{"nil", "use null; to test whether a field is present, use has(self.name)", "null"},
		{"now()", "rules have no clock: the same object must always get the same verdict", ""},

		{"self.spec.zzzzzz", "", ""},
		{"self.spec.image.matches('[')", "the pattern is invalid at [: missing closing ]", ""},
	} {
		_, err := compiler.Compile(c.src, false)
		var bad *engine.CompileError
		if !errors.As(err, &bad) {
			t.Errorf("%s: compiles (%v)", c.src, err)
			continue
		}
		advice := p.Advise(bad)
		got := advice.Words
		if len(advice.Names) > 0 {
			got = "did you mean " + strings.Join(advice.Names, " or ")
		}
		if got != c.want {
			t.Errorf("%s (%s): %q, want %q", c.src, bad.Summary(), got, c.want)
		}
		if _, err := compiler.Compile(c.fixed, false); c.fixed != "" && err != nil {
			t.Errorf("%s: the fixed rule does not compile: %v", c.src, err)
		}
	}
}

func TestFailed(t *testing.T) {
	compiler := cronTab(t)
	object := map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{"env": []any{}, "image": "a"}}
	for _, c := range []struct{ src, want, fixed string }{
		{"self.status.phase == 'a'", "test has(self.status) first, or use self.?status.orValue(…)", "self.?status.phase.orValue('') == 'a'"},
		{"self.spec.env[0].name == 'a'", "test size(list) > 0 first", "size(self.spec.env) > 0 && self.spec.env[0].name == 'a'"},
		{"self.spec.env[-1].name == 'a'", "indexes start at 0; the last element of a non-empty list is list[size(list) - 1]", "size(self.spec.env) > 0 && self.spec.env[size(self.spec.env) - 1].name == 'a'"},
		{"1 / 0 == 1", "test x != 0 first", "true"},
		{"{'a': 1}['b'] == 1", "test 'b' in map first, or use [?'b'].orValue(…)", "{'a': 1}[?'b'].orValue(1) == 1"},
		{"self.spec.?schedule.value() == 'a'", "use .orValue(…), or test .hasValue() first", "self.spec.?schedule.orValue('') == ''"},
	} {
		eval := func(src string) error {
			x, err := compiler.Compile(src, false)
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			return compiler.Eval(context.Background(), x, false, object, nil).Err
		}
		err := eval(c.src)
		if err == nil {
			t.Errorf("%s: has a value", c.src)
			continue
		}
		if got := assist.Failure(c.src, err.Error()).Words; got != c.want {
			t.Errorf("%s (%v): %q, want %q", c.src, err, got, c.want)
		}
		if err := eval(c.fixed); err != nil {
			t.Errorf("%s: the fixed rule fails: %v", c.src, err)
		}
	}
}

func FuzzMend(f *testing.F) {
	p := placeIn(f, "../../examples/crontab/crd.yaml", "")
	f.Add("self.spec.replicas = 3", 1, 20, "Syntax error: token recognition error at: '='")
	f.Add("a in 'b'", 1, 3, "found no matching overload for '@in' applied to '(string, string)'")
	f.Add("a.b", 1, 2, "undeclared reference to 'b'")
	f.Add("x.y", 1, 2, "type 'list(string)' does not support field selection")
	f.Fuzz(func(t *testing.T, src string, line, column int, detail string) {
		bad := &engine.CompileError{RuleRef: engine.RuleRef{Rule: src}, Line: line, Column: column, Detail: detail}
		advice := p.Advise(bad)
		for _, text := range append(advice.Names, advice.Words, assist.Failure(src, detail).Words) {
			if strings.ContainsAny(text, "\n\r") {
				t.Errorf("%q at %d:%d: %q is more than a line", src, line, column, text)
			}
		}
	})
}
