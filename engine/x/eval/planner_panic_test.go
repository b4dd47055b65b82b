package eval

import (
	"errors"
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// TestPlanTellsBugs checks that a panic in upstream's planner is an error of the expression, and
// that a panic in Celadon's is an internal error and never a verdict on the rule.
func TestPlanTellsBugs(t *testing.T) {
	t.Parallel()
	env, err := celenv.StoredRules(types.Version{Minor: types.Newest}).For(&types.Decl{Kind: types.String}, false)
	if err != nil {
		t.Fatal(err)
	}
	checked, issues := env.Compile("{b'k': 1}.size() == 1")
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	if _, err := New(env, checked, &types.Decl{Kind: types.String}, 1); err == nil {
		t.Error("a key that cannot be hashed: no error")
	}
	defer func() {
		var bug *InternalError
		if err, ok := recover().(error); !ok || !errors.As(err, &bug) {
			t.Errorf("got %v, want an internal error", err)
		}
	}()
	if checked, issues = env.Compile("self.trim() == ''"); issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	_, err = NewPlanner(nil).Plan(checked, &types.Decl{Kind: types.String}, 1) // invalid use
	t.Errorf("no panic but %v", err)
}
