package parse_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/cel/scan"
	"github.com/celadon-cel/celadon/internal/testing/celexprs"
)

// TestTolerantTree checks the trees of invalid expressions. _ represents a hole, and ~ a missing
// operator.
func TestTolerantTree(t *testing.T) {
	t.Parallel()
	s, _ := kubernetes(t)
	for _, c := range []struct {
		src, want string
		holes     []parse.Hole
	}{
		{"a", "a", nil},
		{"", "_", []parse.Hole{{Kind: parse.Operand, ID: 1}}},
		{"self.", "self.``", []parse.Hole{{Kind: parse.Name, ID: 2, Start: 5, End: 5}}},
		{"self.spec. && b", "self.spec.`` && b", []parse.Hole{{Kind: parse.Name, ID: 3, Start: 10, End: 11}}},
		{"self.?", "self.?``", []parse.Hole{{Kind: parse.Name, ID: 3, Start: 6, End: 6}}},
		{"a && ", "a && _", []parse.Hole{{Kind: parse.Operand, ID: 2, Start: 4, End: 5}}},
		{"a + * b", "a + _ * b", []parse.Hole{{Kind: parse.Operand, ID: 3, Start: 3, End: 4}}},
		{"f(a, ", "f(a, _)", []parse.Hole{{Kind: parse.Operand, ID: 3, Start: 4, End: 5}, {Kind: parse.Closing, Start: 4, End: 5}}},
		{"f(,b)", "f(_, b)", []parse.Hole{{Kind: parse.Operand, ID: 2, Start: 2, End: 2}}},
		{"a[", "a[_]", []parse.Hole{{Kind: parse.Operand, ID: 3, Start: 2, End: 2}, {Kind: parse.Closing, Start: 2, End: 2}}},
		{"(a && [b", "a && [b]", []parse.Hole{{Kind: parse.Closing, Start: 8, End: 8}, {Kind: parse.Closing, Start: 8, End: 8}}},
		{"a b", "~(a, b)", []parse.Hole{{Kind: parse.Operator, ID: 2, Start: 1, End: 2}}},
		{"a == 1 self.b.", "~(a == 1, self.b.``)", []parse.Hole{{Kind: parse.Operator, ID: 4, Start: 6, End: 7}, {Kind: parse.Name, ID: 7, Start: 14, End: 14}}},
		{"a) && b", "a && b", []parse.Hole{{Kind: parse.Unfit, Start: 1, End: 2}}},
		{"a @ && é b", "a && b", []parse.Hole{{Kind: parse.Unfit, Start: 2, End: 3}, {Kind: parse.Unfit, Start: 7, End: 8}}},
		{"a ? b", "a ? b : _", []parse.Hole{{Kind: parse.Closing, Start: 5, End: 5}, {Kind: parse.Operand, ID: 4, Start: 5, End: 5}}},
		{"a ? b ? c : d : e", "a ? (b ? c : d) : e", []parse.Hole{{Kind: parse.Unfit, Start: 6, End: 7}}},
		{"{a: b, c", "{a: b, c: _}", nil},
		{"{", "{_: _}", nil},
		{"[a, , b", "[a, _, b]", nil},
		{"'abc", `"abc"`, []parse.Hole{{Kind: parse.Unfit, Start: 0, End: 4}}},
		{"a == 'é && b", `a == "é && b"`, []parse.Hole{{Kind: parse.Unfit, Start: 5, End: 12}}},
		{`'a\zb'`, `"a"`, []parse.Hole{{Kind: parse.Unfit, Start: 0, End: 6}}},
		{"1e999 + 1", "_ + 1", []parse.Hole{{Kind: parse.Unfit, ID: 1, Start: 0, End: 5}}},
		{"for + a.in", "for + a.`in`", []parse.Hole{{Kind: parse.Unfit, Start: 0, End: 3}, {Kind: parse.Unfit, Start: 8, End: 10}}},
		{"`a` + b", "a + b", []parse.Hole{{Kind: parse.Unfit, Start: 0, End: 3}}},
		{"has(a) && b", "has(a) && b", []parse.Hole{{Kind: parse.Unfit, ID: 1, Start: 3, End: 4}}},
		{"self.all(x", "self.all(x)", []parse.Hole{{Kind: parse.Closing, Start: 10, End: 10}}},
		{"self.b.c{d", "self.b.c{d: _}", nil},
		{"M{a: 1, b", "M{a: 1, b: _}", nil},
		{"M{1: 2}", "", nil},
	} {
		tree, holes := s.ours.Tolerant(parse.NewSource(c.src))
		if c.holes != nil && !slices.Equal(holes, c.holes) {
			t.Errorf("%q: got holes %v, want %v", c.src, holes, c.holes)
		}
		if got := written(tree.Expr()); got != c.want && c.want != "" {
			t.Errorf("%q: got %s, want %s", c.src, got, c.want)
		}
		tolerable(t, s, c.src)
	}
	tree, _ := s.ours.Tolerant(parse.NewSource("self.items.all(x, x.name == self."))
	if tree.Expr().Kind() != ast.ComprehensionKind {
		t.Errorf("an unfinished macro is of kind %d, want a comprehension", tree.Expr().Kind())
	}
}

// written formats a tree, with _ for a hole and ~ for a missing operator.
func written(root ast.Expr) string {
	factory := ast.NewExprFactory()
	root = factory.CopyExpr(root)
	ast.PreOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case e.Kind() == ast.UnspecifiedExprKind:
			e.SetKindCase(factory.NewIdent(0, "_"))
		case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "":
			e.SetKindCase(factory.NewCall(0, "~", e.AsCall().Args()...))
		}
	}))
	text, err := parser.Unparse(root, ast.NewSourceInfo(nil))
	if err != nil {
		return err.Error()
	}
	return text
}

// tolerable checks the contract of Tolerant for src.
func tolerable(t testing.TB, s side, src string) {
	t.Helper()
	source := parse.NewSource(src)
	tree, holes := s.ours.Tolerant(source)
	strict, err := s.ours.Parse(source)
	switch {
	case (err == nil) != (len(holes) == 0):
		t.Errorf("%s: %q: got %d holes, accepted %v", s.name, src, len(holes), err == nil)
	case err == nil:
		if d := celexprs.Difference(tree, strict); d != "" {
			t.Errorf("%s: %q: %s", s.name, src, d)
		}
	}
	size := int32(utf8.RuneCountInString(src))
	for _, h := range holes {
		if h.Start < 0 || h.End < h.Start || h.End > size {
			t.Errorf("%s: %q: hole %v is not in the text of %d", s.name, src, h, size)
		}
	}
	// A ? can lack three operands or colons, be unfit, and be too deep.
	if len(holes) > 5*len(src)+4 {
		t.Errorf("%s: %q: %d holes", s.name, src, len(holes))
	}
	nodes := 0
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(ast.Expr) { nodes++ }))
	if nodes == 0 {
		t.Errorf("%s: %q: no tree", s.name, src)
	}
	kept(t, s, source, tree, holes)
}

// kept checks that each name in src is in the tree or in a hole, unless a part is nested too
// deeply.
func kept(t testing.TB, s side, src *parse.Source, tree *ast.AST, holes []parse.Hole) {
	t.Helper()
	there := names(tree.Expr())
	for _, h := range holes {
		if h.Kind == parse.Deep {
			return
		}
		there[string([]rune(src.Content())[h.Start:h.End])] = true
	}
	scanner := scan.New(src.Content(), 0)
	for token := scanner.Next(); token.Kind != scan.EOF; token = scanner.Next() {
		name := src.Content()[token.Start:token.End]
		if token.Kind == scan.Ident && !there[name] && !s.macros[name] {
			t.Errorf("%s: %q: %s is not in the tree: %s", s.name, src.Content(), name, written(tree.Expr()))
		}
	}
}

// names returns the names in a tree, split at dots, and the values of its literals.
func names(root ast.Expr) map[string]bool {
	there := map[string]bool{}
	add := func(names ...string) {
		for _, name := range names {
			for _, part := range strings.Split(name, ".") {
				there[part] = true
			}
		}
	}
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			add(e.AsIdent())
		case ast.SelectKind:
			add(e.AsSelect().FieldName())
		case ast.CallKind:
			add(e.AsCall().FunctionName())
		case ast.LiteralKind:
			add(fmt.Sprint(e.AsLiteral().Value())) // the field name of a.?b
		case ast.StructKind:
			add(e.AsStruct().TypeName())
			for _, f := range e.AsStruct().Fields() {
				add(f.AsStructField().Name())
			}
		case ast.ComprehensionKind:
			loop := e.AsComprehension()
			add(loop.IterVar(), loop.IterVar2(), loop.AccuVar())
		}
	}))
	return there
}

// TestTolerantPrefixes parses each prefix of a rule, and the rule without each of its tokens. It
// uses one rule in four, or all rules if CELADON_PARSES is set.
func TestTolerantPrefixes(t *testing.T) {
	t.Parallel()
	s, _ := kubernetes(t)
	for i, text := range celexprs.Many(t) {
		if i%4 != 0 && os.Getenv("CELADON_PARSES") == "" {
			continue
		}
		for i := range text {
			tolerable(t, s, text[:i])
		}
		scanner := scan.New(text, 0)
		for token := scanner.Next(); token.Kind != scan.EOF; token = scanner.Next() {
			tolerable(t, s, text[:token.Start]+text[token.End:])
		}
		if t.Failed() {
			return
		}
	}
}
