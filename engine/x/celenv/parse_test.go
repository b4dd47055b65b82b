package celenv

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/types"
)

// TestParseAsEnv parses expressions whose result depends on parser options, in the environments of
// all versions. Celadon's parser must use the options of each environment.
func TestParseAsEnv(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	newest.Skip(t)
	texts := []string{
		"self.a == 1 && self.b || !self.c", "a || b || c || d", "a.?b", "a[?b]", "[?a]", "{?a: b}", "a.`b-c`", "has(a.b)", "a.all(x, x > 0)", "a.all(x, y, x > y)", "a.exists(x, true)", "a.exists_one(x, x)", "a.existsOne(x, x)", "a.map(x, y, x)", "a.filter(x, x)",
		"a.transformList(i, v, v)", "a.transformMap(k, v, v)", "a.transformMapEntry(k, v, {k: v})", "cel.bind(x, 1, x)", "a.optMap(x, x)", "a.optFlatMap(x, x)", "a.sortBy(x, x)", "math.least(1, 2)", "proto.hasExt(a, b.c)", "a.b.c{d: e}",
		"for", "a b", "", "has(a)", "'é' + a // x\n + b", "\xff", "'\xff'",
	}
	for _, n := range []int{125, 126, 250, 251} {
		texts = append(texts, strings.Repeat("(", n)+"a"+strings.Repeat(")", n), "a"+strings.Repeat(".b", n), "a"+strings.Repeat("==(b", n)+strings.Repeat(")", n))
	}
	for _, n := range []int{99_999, 100_000} {
		texts = append(texts, strings.Repeat(" ", n)+"a", strings.Repeat(" ", n-1)+"'é'")
	}
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		for _, env := range []*Env{StoredRules(types.Version{Minor: minor}), NewRules(types.Version{Minor: minor})} {
			for _, src := range texts {
				if minor < EscapedNames && strings.Contains(src, "`") {
					continue // cel.Env has no option that rejects it
				}
				compareParse(t, minor, env.base, src)
			}
		}
	}
}

func compareParse(t *testing.T, minor int, env *cel.Env, src string) {
	t.Helper()
	got, err := Parse(env, src)
	want, issues := env.Parse(src)
	var bad *IssuesError
	switch {
	case issues.Err() != nil:
		if !errors.As(err, &bad) || bad.Error() != issues.String() {
			t.Errorf("1.%d: %.60q: got %v, want %v", minor, src, err, issues)
		}
	case err != nil:
		t.Errorf("1.%d: %.60q: %v", minor, src, err)
	case !reflect.DeepEqual(got.NativeRep(), want.NativeRep()):
		t.Errorf("1.%d: %.60q: not cel-go's tree", minor, src)
	case got.Source().Content() != want.Source().Content() || got.Source().Description() != want.Source().Description():
		t.Errorf("1.%d: %.60q: not cel-go's source", minor, src)
	}
}

// TestParseFlood checks that expressions are rejected for which cel-go's parser would build trees
// of billions of nodes.
func TestParseFlood(t *testing.T) {
	t.Parallel()
	many := "self" + strings.Repeat(".optMap(x, x)", 40)
	for _, src := range []string{many, many + " )"} {
		var complex *ComplexError
		if _, err := Check(StoredRules(types.Version{Minor: types.Newest}).base, src); !errors.As(err, &complex) || !strings.Contains(err.Error(), "too complex to be parsed") {
			t.Errorf("%.40s: got %v", src, err)
		}
	}
}
