package types_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/types"
)

// TestValidators holds that expressions without lists, maps and a few functions
// need no validator: none of any version looks at more.
func TestValidators(t *testing.T) {
	t.Parallel()
	known := []string{"cel.validator.duration", "cel.validator.timestamp", "cel.validator.matches", "cel.validator.homogeneous_literals", "cel.validator.string_format"}
	d := types.FromSchema(structural(t, `{type: string}`), types.Subtree)
	found := map[string]bool{}
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		for _, e := range []*types.Env{types.StoredEnv(types.Version{Minor: minor}), types.NewRulesEnv(types.Version{Minor: minor})} {
			env, err := e.For(d, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range env.Validators() {
				found[v.Name()] = true
				if !slices.Contains(known, v.Name()) {
					t.Errorf("1.%d: %s looks at what is not known here: see validators", minor, v.Name())
				}
			}
		}
	}
	if len(found) != len(known) {
		t.Errorf("found %v, want %v", found, known)
	}
}

// TestScopesAtOnce is for the race detector: scopes share what is made once.
func TestScopesAtOnce(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(structural(t, `{type: object, properties: {a: {type: string}}}`), types.Subtree)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			scope, err := types.NewRulesEnv(types.Version{Minor: 33}).Scope()
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
