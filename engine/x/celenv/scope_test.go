package celenv_test

import (
	"errors"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

func TestScope(t *testing.T) {
	t.Parallel()
	root := types.FromSchema(schemas.Structural(t, `{type: object, properties: {a: {type: object, properties: {b: {type: array, items: {type: object, properties: {c: {type: integer}}}}}}, m: {type: object, additionalProperties: {type: string}}, u: {x-kubernetes-preserve-unknown-fields: true}, namespace: {type: string}, "9": {type: object, properties: {d: {type: string}}}}}`), types.ResourceRoot)
	places := []*types.Decl{
		root, root.Fields["a"].Decl, root.Fields["a"].Decl.Fields["b"].Decl, root.Fields["a"].Decl.Fields["b"].Decl.Elem,
		root.Fields["m"].Decl, root.Fields["u"].Decl, root.Fields["9"].Decl, root.Fields["9"].Decl.Fields["d"].Decl,
	}
	expressions := []string{
		`self == oldSelf`, `self.c > 0`, `self.b.all(self, self.c > 0)`, `self.a.b[0].c == oldSelf.a.b[0].c`, `[self].exists(x, x == self)`, `self.all(oldSelf, oldSelf.c > 0)`,
		`has(self.a)`, `self.m.all(k, self.m[k] != '')`, `{'self': self}.self == self`, `oldSelf.hasValue()`, `oldSelf.orValue(self) == self`, `oldSelf.?c.hasValue()`, `.self == self`, `self.zz`, `self +`, ``,
		`self.metadata.name + self.kind`, `type(self) == type(oldSelf)`, `self.size() > 1 && self.startsWith('x')`, `'self' == 'oldSelf'`, `self.b.map(x, x.c).sum() + size(self.b)`, `self.@self`, `self@1`,
		`duration('x') == duration('1s')`, `timestamp('x') < timestamp('y')`, `'a'.matches('[')`, `'%d'.format(['a']) == ''`, `[1, 'a'].size() == 2`, `{'a': 1, 'b': 'c'}.size() == 2`,
		`type(1s) == duration`, `type(self) == string || type(self) == int`, `google.protobuf.NullValue.NULL_VALUE == 0`, `google.protobuf.Duration{seconds: 1} == duration('1s')`,
		`self.namespace == ''`, `self.__namespace__ == ''`, `self.a.namespace == oldSelf.a.namespace`, `1 < 2.0`, `has(self.a.b) && self.a.?b.hasValue()`, `self.m.namespace == ''`, `self.?m.?k.hasValue()`,
	}
	for _, env := range []*celenv.Env{celenv.StoredRules(types.Version{Minor: types.Newest}), celenv.NewRules(types.Version{Minor: 30})} {
		scope, err := env.Scope()
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range places {
			for _, optional := range []bool{false, true} {
				own, ownErr := env.For(d, optional)
				for _, src := range expressions {
					want, wantErr := (*cel.Ast)(nil), ownErr
					if ownErr == nil {
						want, wantErr = celenv.Check(own, src)
					}
					got, err := scope.Compile(d, optional, src)
					if text(err) != text(wantErr) {
						t.Errorf("place %d: %s: got %v, want %v", i, src, err, wantErr)
						continue
					}
					if err == nil && (got.OutputType().String() != want.OutputType().String() || unparse(t, got) != unparse(t, want)) {
						t.Errorf("place %d: %s: got %s of %s", i, src, unparse(t, got), got.OutputType())
					}
				}
			}
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func unparse(t *testing.T, ast *cel.Ast) string {
	t.Helper()
	src, err := cel.AstToString(ast)
	if err != nil {
		return "no text: " + err.Error()[:22] // without the address in the message
	}
	return src
}

func TestIssuesPlace(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(schemas.Structural(t, `{type: string}`), types.Subtree)
	tests := []struct {
		src          string
		line, column int
		snippet      string
	}{
		{"", 1, 1, "\n^"},
		{"self +", 1, 7, "self +\n      ^"},
		{"self +\n", 2, 1, "\n^"},
		{"self.x", 1, 5, "self.x\n    ^"},
		{"'ö' +\n\tself.x", 2, 6, " self.x\n     ^"},
		{"self == 1 || x", 1, 6, "self == 1 || x\n     ^"},
	}
	for _, tt := range tests {
		_, _, err := celenv.StoredRules(types.Version{Minor: types.Newest}).Compile(d, false, tt.src)
		var issues *celenv.IssuesError
		if !errors.As(err, &issues) {
			t.Errorf("%q: got %v", tt.src, err)
			continue
		}
		if line, column, snippet := issues.Place(); line != tt.line || column != tt.column || snippet != tt.snippet {
			t.Errorf("%q: got %d, %d, %q, want %d, %d, %q", tt.src, line, column, snippet, tt.line, tt.column, tt.snippet)
		}
	}
}

// TestAlike checks that objects at two paths have different types, as in the API server, even if an
// Interner shares their declaration.
func TestAlike(t *testing.T) {
	t.Parallel()
	const object = `{type: object, properties: {x: {type: string}, o: {type: object, properties: {y: {type: string}}}}}`
	const list, values = `{type: array, items: ` + object + `}`, `{type: object, additionalProperties: ` + object + `}`
	s := schemas.Structural(t, `{type: object, properties: {a: `+object+`, b: `+object+`, l: `+list+`, k: `+list+`, m: `+values+`, n: `+values+`, s: {type: string}, t: {type: string}, below: {type: object, properties: {a: `+object+`}}}}`)
	d := types.NewInterner().FromSchema(s, types.Subtree)
	if d.Fields["a"].Decl != d.Fields["b"].Decl {
		t.Fatal("the fields are not declared as one")
	}
	env := celenv.NewRules(types.Version{Minor: types.Newest})
	scope, err := env.Scope()
	if err != nil {
		t.Fatal(err)
	}
	own, err := env.For(d, false)
	if err != nil {
		t.Fatal(err)
	}
	for src, good := range map[string]bool{
		"self.a == self.a": true, "self.a == oldSelf.a": true, "self == oldSelf": true, "self.l[0] == oldSelf.l[1]": true, "self.l == oldSelf.l": true,
		"self.a == self.b": false, "self.a != self.b": false, "self.a == oldSelf.b": false, "self.a.o == self.b.o": false, "self.a.o == oldSelf.a.o": true,
		"self.a == self.below.a": false, "self.a in self.l": false, "self.l[0] in self.l": true, "self.l == self.k": false, "self.l + self.k == self.l": false,
		"self.l[0] == self.k[0]": false, "self.m == self.n": false, "self.m == oldSelf.m": true, "self.m['x'] == self.n['x']": false, "self.m['x'] == self.m['y']": true,
		"self.l.all(x, self.k.exists(y, x == y))": false, "self.l.all(x, self.l.exists(y, x == y))": true, "(true ? self.a : self.b).x == ''": false,
		"(true ? self.a : oldSelf.a).x == ''": true, "[self.a, self.b].size() == 2": false, "[self.a] == [self.b]": false, "[self.a, self.b].all(v, v.x == '')": false,
		"self.?a == self.?b": false, "self.?a.orValue(self.b).x == ''": false, "dyn(self.a) == self.b": true, "type(self.a) == type(self.b)": true,
		"self.s == self.t": true, "self.a.x == self.b.x": true, "self.l.map(v, v.o) == self.k.map(v, v.o)": false,
	} {
		want, wantErr := celenv.Check(own, src)
		got, err := scope.Compile(d, false, src)
		if text(err) != text(wantErr) || (err == nil) != good {
			t.Errorf("%s: got %v, want %v (good: %t)", src, err, wantErr, good)
		} else if good && got.OutputType().String() != want.OutputType().String() {
			t.Errorf("%s: got type %v, want %v", src, got.OutputType(), want.OutputType())
		}
	}
}
