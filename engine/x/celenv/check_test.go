package celenv_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

// TestValidators checks that the environments of all released versions have only validators that Scope
// considers.
func TestValidators(t *testing.T) {
	t.Parallel()
	known := []string{"cel.validator.duration", "cel.validator.timestamp", "cel.validator.matches", "cel.validator.homogeneous_literals", "cel.validator.string_format", "celadon.validator.constant_format"}
	d := types.FromSchema(schemas.Structural(t, `{type: string}`), types.Subtree)
	found := map[string]bool{}
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		for _, e := range []*celenv.Env{celenv.StoredRules(types.Version{Minor: minor}), celenv.NewRules(types.Version{Minor: minor})} {
			env, err := e.For(d, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range env.Validators() {
				found[v.Name()] = true
				if !slices.Contains(known, v.Name()) {
					t.Errorf("1.%d: %s uses an unknown validator: see validators", minor, v.Name())
				}
			}
		}
	}
	if len(found) != len(known) {
		t.Errorf("found %v, want %v", found, known)
	}
}

// TestScopesAtOnce lets the race detector check the data that scopes share.
func TestScopesAtOnce(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(schemas.Structural(t, `{type: object, properties: {a: {type: string}}}`), types.Subtree)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			scope, err := celenv.NewRules(types.Version{Minor: 33}).Scope()
			if err != nil {
				t.Error(err)
				return
			}
			for _, src := range []string{`self.a.matches('^a')`, `'%s'.format([self.a]) == 'b'`, `oldSelf.a == self.a`} {
				if _, err := scope.Compile(d, false, src); err != nil {
					t.Errorf("%s: %v", src, err)
				}
			}
		})
	}
	all.Wait()
}

// The literals are those that a validator inspects, in versions with and without validators.
func TestLiterals(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(schemas.Structural(t, `{type: string}`), types.Subtree)
	var exprs []string
	for _, text := range []string{
		"", "a", "^a+$", `\\d{3}`, `a{1000}`, `a{1001}`, `(a{1000}){1000}`, "(", "[z-a]", "(?i)a", "(?<x>a)", "(?P<x>a)(?P<x>b)", `\\pL`, `\\pX`, "a**", `\\C`, "é", `\\xff`, "\\u0000",
	} {
		exprs = append(exprs, "self.matches('"+text+"')", "matches(self, '"+text+"')", "matches('"+text+"', self)")
	}
	for _, text := range []string{"", "1h", "-1h", "1", "1.5h3s", "1d", "87600h", "2540400h", "2540401h", "3000000h", "9223372036s", "1h ", "+1s", ".5s", "1e3s", "0"} {
		exprs = append(exprs, "duration('"+text+"') > duration('1s')")
	}
	for _, text := range []string{"", "2020-01-01T00:00:00Z", "2020-02-30T00:00:00Z", "2020-01-01", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-01:00", "2020-01-01t00:00:00z"} {
		exprs = append(exprs, "timestamp('"+text+"') > timestamp('2020-01-01T00:00:00Z')")
	}
	exprs = append(exprs, "timestamp(1) > timestamp(-1)", "timestamp(999999999999999) > timestamp(1)", "duration(self) > duration('x')",
		"timestamp ( 'x') > timestamp(1)", "self.\nmatches\n('(')", "'%d'.format(['a']) == ''", "'%d'.format([1]) == ''", "'%q'.format([1]) == ''",
		"[1, 'a'].size() > 0", "[self, 'a'].size() > 0", "{'a': 1, 'b': 'c'}.size() > 0", "{'a': 1, 2: 1}.size() > 0", "{'a': 1, 'b': 2}.size() > 0")
	for _, minor := range []int{types.Oldest, types.Newest} {
		e := celenv.NewRules(types.Version{Minor: minor})
		env, err := e.For(d, false)
		if err != nil {
			t.Fatal(err)
		}
		rejected := 0
		for _, src := range exprs {
			_, issues := env.Compile(src)
			scope, err := e.Scope()
			if err != nil {
				t.Fatal(err)
			}
			_, scoped := scope.Compile(d, false, src)
			if want := issues == nil; want != (scoped == nil) {
				t.Errorf("1.%d: %s: got %v, cel-go %v", minor, src, scoped, issues)
			}
			if issues != nil {
				rejected++
			}
		}
		if minor == types.Newest && rejected < 20 || minor == types.Oldest && rejected > 6 {
			t.Errorf("1.%d: %d of %d are refused", minor, rejected, len(exprs))
		}
	}
}
