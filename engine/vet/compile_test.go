package vet

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// Versions before 1.29 do not check literals.
func TestPlanned(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(&schema.Structural{
		Generic: schema.Generic{Type: "object"},
		Properties: map[string]schema.Structural{
			"a": {Generic: schema.Generic{Type: "string"}}, "b": {Generic: schema.Generic{Type: "integer"}},
		},
	}, types.Subtree)
	planned := 0
	for _, src := range []string{
		"self.a.matches('^a+$')", "self.a.matches('(')", "self.a.matches('a{1001}')", "self.a.matches(self.a)", "self.a.matches('a' + 'b')",
		"matches(self.a, '(')", "matches(self.a, 'a')", "matches('(', self.a)", "self.a.find('(') == ''", "self.a.find('a') == ''", "self.a.findAll('(', 2) == []", "self.a.findAll('a') == []",
		"duration('1h') > duration('2h')", "duration('x') > duration('2h')", "duration(self.a) > duration('1d')",
		"timestamp('2020-01-01T00:00:00Z') > timestamp('x')", "timestamp('2020-01-01T00:00:00Z') > timestamp('9999-12-31T23:59:59-01:00')", "timestamp(self.b) > timestamp(1)",
		"int('x') == 1", "int('1') == 1", "int ( 'x') == 1", "type(1) == int", "type('a') == string", "uint(-1) == 1u", "double('x') == 1.0", "bytes('a') == b'a'", "string(self.b) == '1'", "bool('x')", "dyn(self.b) == 1",
		"{}[b'a'] == 1", "{}[duration('1h')] == 1", "{}[int] == 1", "{}[null] == 1", "{}[[1]] == 1", "dyn(self)[[1]] == 1", "{}['a'] == 1", "dyn(self)[self] == 1",
		"{self.a: 1} == {}", "{b'a': 1} == {}", "[1, self.b] == []", "self.b == 1",
	} {
		env, checked, err := celenv.NewRules(types.Version{Minor: types.Oldest}).Compile(d, false, src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		err = plan(env, checked)
		if err != nil && !planCanFail(checked) {
			t.Errorf("%s: not planned: %v", src, err)
		}
		if err == nil && !planCanFail(checked) {
			planned++
		}
	}
	if planned < 8 {
		t.Errorf("%d good expressions are not planned, want 8", planned)
	}
}
