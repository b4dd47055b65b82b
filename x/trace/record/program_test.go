package record

import (
	"context"
	"errors"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func cronTab(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.Compile(corpus.ReadCRD(t, "../../../examples/crontab/crd.yaml"), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTraceCosts(t *testing.T) {
	e := cronTab(t)
	node, err := e.At("v1", "")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := access.Compiler(node)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := engine.Decode([]byte(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"n"},
		"spec":{"schedule":"0 3 * * *","image":"a:1","replicas":3,"maxReplicas":2,"env":[{"name":"A","value":"x"},{"name":"b"},{"name":"C"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range traced {
		t.Run(src, func(t *testing.T) {
			x, err := compiler.Compile(src, false)
			if err != nil {
				t.Fatal(err)
			}
			want := compiler.Eval(context.Background(), x, false, obj, obj)
			p, err := New(compiler, x.AST(), src, false)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Run(context.Background(), obj, obj, NewBudget(MaxObjectWork))
			if err != nil {
				t.Fatal(err)
			}
			if got.Cost != want.Cost {
				t.Errorf("cost %d, want %d", got.Cost, want.Cost)
			}
			for _, part := range got.Tree() {
				if part.Cost > got.Cost {
					t.Errorf("%s costs %d of %d", part.Text, part.Cost, got.Cost)
				}
			}
			if (got.Err == nil) != (want.Err == nil) {
				t.Fatalf("error %v, want %v", got.Err, want.Err)
			}
			if want.Err != nil {
				return
			}
			v, units, ok := got.at(p.root())
			if !ok || v.Equal(want.Value).Value() != true {
				t.Errorf("root %v (%v), want %v", v, ok, want.Value)
			}
			if units != want.Cost {
				t.Errorf("root costs %d, want %d", units, want.Cost)
			}
		})
	}
}

var traced = []string{
	"self.spec.replicas <= self.spec.maxReplicas",
	"has(self.spec.suspended)",
	"has(self.spec.env) && has(self.spec.env[0].value)",
	"!has(self.spec.suspended) || !self.spec.suspended",
	"has(self.spec.suspended) ? self.spec.suspended : self.spec.env[0].name == 'A'",
	"self.spec.env.all(e, e.name.matches('^[A-Z_]+$'))",
	"self.spec.env.exists(e, has(e.value) && e.value == 'y')",
	"self.spec.env.map(e, e.name).filter(n, n > 'A').size() == 2",
	"self.spec.schedule.split(' ').size() == 5 && self.spec.env.exists_one(e, e.name == 'A')",
	"oldSelf.spec.image == self.spec.image && self.spec.image in ['a:1', 'b']",
	"self.spec.env[self.spec.replicas - 1].name",
	"self.spec.env[self.spec.maxReplicas].name",
	"{'a': [1, 2], 'b': [3]}['a'][1] + 1",
	"self.spec.?suspended.orValue(false) || optional.of(self.spec.env[0].name).value() == 'x'",
	"1 / 0 > 2",
	"dyn(self.spec.replicas) == 3.0",
	"[1, 2, 3].all(x, [4, 5].exists(y, y > x && x < 3))",
	"string(self.spec.replicas) + 'x' == '3x'",
	"quantity('1Gi').isGreaterThan(quantity('1Mi'))",
	"true",
	"self.spec.env == oldSelf.spec.env",
}

func TestTraceEnds(t *testing.T) {
	t.Parallel()
	node, err := cronTab(t).At("v1", "")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := access.Compiler(node)
	if err != nil {
		t.Fatal(err)
	}
	for src, ends := range map[string]bool{
		"lists.range(20).all(a, a >= 0)":                                      false,
		"lists.range(21).all(a, a >= 0)":                                      true,
		"lists.range(9).all(a, lists.range(21).all(b, a + b >= 0))":           true,
		"lists.range(20).all(a, lists.range(20).exists(b, a + b == 10 * 10))": false,
	} {
		x, err := compiler.Compile(src, false)
		if err != nil {
			t.Fatal(err)
		}
		env, err := compiler.Env(false)
		if err != nil {
			t.Fatal(err)
		}
		p, err := newProgram(env, compiler.Decl(), compiler.Limit(), x.AST(), src, false, 20)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Run(context.Background(), map[string]any{}, nil, NewBudget(MaxObjectWork))
		var over *eval.OverworkError
		if errors.As(err, &over) != ends {
			t.Errorf("%s: %v, want that it ends: %v", src, err, ends)
		}
	}
}
