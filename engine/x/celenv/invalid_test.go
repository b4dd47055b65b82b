package celenv

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

func TestIssuesText(t *testing.T) {
	t.Parallel()
	for _, src := range invalidSources() {
		compareText(t, src)
	}
}

func invalidSources() []string {
	return []string{
		"", "x", "x\n", "\n\nx", "x ==\n y\n&& z", "\tx\t+ y", "'\u4e16\u754c' + x", "x + '\u4e16\u754c'", "'\U0001f600' == 1 || \u00e9", "1 +", "(", "'a", "\n'a", "a b c d", "\xff", "'\xff' + x",
		strings.Repeat("x || ", 99) + "x", strings.Repeat("x || ", 100) + "x", strings.Repeat("x || ", 500) + "x", strings.Repeat("x\n|| ", 500) + "x",
		strings.Repeat("+*", 300), strings.Repeat("a ", 300), strings.Repeat("(", 300), "x == '" + strings.Repeat("a", maxSnippet-7) + "'", "x == '" + strings.Repeat("a", maxSnippet-6) + "'",
		"'" + strings.Repeat("\u00e9", maxSnippet) + "' == x", strings.Repeat("\n", 300) + "x + y", strings.Repeat(" ", 3000) + "x", "size(1) == 'a' && x.more.errors.were.truncated",
	}
}

func compareText(t *testing.T, src string) {
	t.Helper()
	env := StoredRules(types.Version{Minor: types.Newest}).base
	issuesOf := func() (common.Source, *cel.Issues) {
		parsed, issues := env.Parse(src)
		if issues != nil {
			return common.NewTextSource(src), issues
		}
		_, issues = env.Check(parsed)
		return parsed.Source(), issues
	}
	_, issues := issuesOf()
	if issues == nil {
		return // src is valid
	}
	want := issues.String()
	if got := newIssuesError(issuesOf()); got.Error() != want {
		t.Errorf("%.50q: got\n%.2000s\nwant\n%.2000s", src, got.Error(), want)
	} else if again := newIssuesError(common.NewTextSource(src), issues); again.Error() != want || issues.String() != want {
		t.Errorf("%.50q: the issues were modified", src)
	}
}

func FuzzIssuesText(f *testing.F) {
	for _, src := range invalidSources() {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		// Beyond these, cel-go's parser or checker would take too long.
		if parsed, err := Parse(StoredRules(types.Version{Minor: types.Newest}).base, src); err == nil {
			if units, _ := complexity(parsed.NativeRep().Expr()); units > maxComplexity {
				t.Skip("too complex")
			}
		}
		if len(src) > 1<<17 {
			t.Skip("too long")
		}
		compareText(t, src)
	})
}

func wideDecl(t *testing.T) *types.Decl {
	t.Helper()
	s := &schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{}}
	for i := range 5000 {
		s.Properties[fmt.Sprintf("p%d", i)] = schema.Structural{Generic: schema.Generic{Type: "string"}}
	}
	return types.FromSchema(s, types.Subtree)
}

func TestInvalidLimit(t *testing.T) {
	t.Parallel()
	d := wideDecl(t)
	for name, tt := range map[string]struct {
		src      func(i int) string
		from, to int
	}{
		"short":  {func(i int) string { return fmt.Sprintf("self.q%d", i) }, 400, 900},
		"long":   {func(i int) string { return fmt.Sprintf("self.p1 == '%s' + %d", strings.Repeat("x", 9000), i) }, 3, 8},
		"syntax": {func(i int) string { return strings.Repeat("+*", 5000) + fmt.Sprint(i) }, 2, 6},
		"many errors": {func(i int) string {
			return strings.Repeat(fmt.Sprintf("self.q%d || ", i), 600) + "true"
		}, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scope, err := StoredRules(types.Version{Minor: types.Newest}).Scope()
			if err != nil {
				t.Fatal(err)
			}
			invalid, bytes := 0, 0
			var complex *ComplexError
			for i := range 2 * tt.to {
				_, err := scope.Compile(d, false, tt.src(i))
				var issues *IssuesError
				switch {
				case errors.As(err, &issues) && complex == nil:
					invalid, bytes = invalid+1, bytes+len(err.Error())
				case !errors.As(err, &complex):
					t.Fatalf("expression %d: got %v", i, err)
				}
			}
			if invalid < tt.from || invalid > tt.to || bytes > 8<<20 || complex == nil || complex.invalid != invalid {
				t.Errorf("%d errors of %d bytes, want %d to %d; then %v", invalid, bytes, tt.from, tt.to, complex)
			}
			scope.Forget()
			if _, err := scope.Compile(d, false, "self.p1 == 'a'"); err != nil {
				t.Errorf("after Forget: %v", err)
			}
		})
	}
}

// TestInvalidEnvironments checks that invalid expressions at one path share an environment, and that its
// size counts.
func TestInvalidEnvironments(t *testing.T) {
	t.Parallel()
	scope, err := StoredRules(types.Version{Minor: types.Newest}).Scope()
	if err != nil {
		t.Fatal(err)
	}
	one, other := wideDecl(t), wideDecl(t)
	var units []int
	for _, d := range []*types.Decl{one, one, other, one} {
		was := scope.invalid.units
		if _, err := scope.Compile(d, false, "self.q"); err == nil {
			t.Fatal("no error")
		}
		units = append(units, scope.invalid.units-was)
	}
	if units[0] < 5000 || units[1] > 1000 || units[2] != units[0] || units[3] != units[0] {
		t.Errorf("got %d units", units)
	}
}

func TestReportLimit(t *testing.T) {
	t.Parallel()
	scope, err := StoredRules(types.Version{Minor: types.Newest}).Scope()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; scope.Report("an error") == nil; n++ {
	}
	if n < 1000 || n > 3000 {
		t.Errorf("%d short errors", n)
	}
	scope.Forget()
	n = 0
	for long := strings.Repeat("x", 1<<20); scope.Report(long) == nil; n++ {
	}
	if n > 5 {
		t.Errorf("%d long errors", n)
	}
}
