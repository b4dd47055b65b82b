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
		{"", "_", []parse.Hole{{}}},
		{"self.", "self.``", []parse.Hole{{5, 5}}},
		{"self.spec. && b", "self.spec.`` && b", []parse.Hole{{10, 11}}},
		{"self.?", "self.?``", []parse.Hole{{6, 6}}},
		{"a && ", "a && _", []parse.Hole{{4, 5}}},
		{"a + * b", "a + _ * b", []parse.Hole{{3, 4}}},
		{"f(a, ", "f(a, _)", []parse.Hole{{4, 5}, {4, 5}}},
		{"f(,b)", "f(_, b)", []parse.Hole{{2, 2}}},
		{"a[", "a[_]", []parse.Hole{{2, 2}, {2, 2}}},
		{"(a && [b", "a && [b]", []parse.Hole{{8, 8}, {8, 8}}},
		{"a b", "~(a, b)", []parse.Hole{{1, 2}}},
		{"a == 1 self.b.", "~(a == 1, self.b.``)", []parse.Hole{{6, 7}, {14, 14}}},
		{"a) && b", "a && b", []parse.Hole{{1, 2}}},
		{"a @ && é b", "a && b", []parse.Hole{{2, 3}, {7, 8}}},
		{"a ? b", "a ? b : _", []parse.Hole{{5, 5}, {5, 5}}},
		{"a ? b ? c : d : e", "a ? (b ? c : d) : e", []parse.Hole{{6, 7}}},
		{"{a: b, c", "{a: b, c: _}", nil},
		{"{", "{_: _}", nil},
		{"[a, , b", "[a, _, b]", nil},
		{"'abc", `"abc"`, []parse.Hole{{0, 4}}},
		{"a == 'é && b", `a == "é && b"`, []parse.Hole{{5, 12}}},
		{`'a\zb'`, `"a"`, []parse.Hole{{0, 6}}},
		{"1e999 + 1", "_ + 1", []parse.Hole{{0, 5}}},
		{"for + a.in", "for + a.`in`", []parse.Hole{{0, 3}, {8, 10}}},
		{"`a` + b", "a + b", []parse.Hole{{0, 3}}},
		{"has(a) && b", "has(a) && b", []parse.Hole{{3, 4}}},
		{"self.all(x", "self.all(x)", []parse.Hole{{10, 10}}},
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

// kept checks that each name in src is in the tree or in a hole. It skips a src with a hole of several tokens,
// because an expression with too many operators is replaced as a whole.
func kept(t testing.TB, s side, src *parse.Source, tree *ast.AST, holes []parse.Hole) {
	t.Helper()
	there := names(tree.Expr())
	for _, h := range holes {
		text := string([]rune(src.Content())[h.Start:h.End])
		scanner := scan.New(text, 0)
		if first := scanner.Next(); first.Kind != scan.EOF && scanner.Next().Kind != scan.EOF {
			return
		}
		there[text] = true
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

// TestTolerantPrefixes uses one rule in four, or all rules if CELADON_PARSES is set.
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
