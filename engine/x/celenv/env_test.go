package celenv_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

const envSchema = `{type: object, properties: {a-b: {type: string}, namespace: {type: string}, "true": {type: boolean}, in: {type: string}, for: {type: string}, l: {type: array, items: {type: object, properties: {k: {type: string}}}}}}`

func env(t *testing.T, e *celenv.Env, d *types.Decl, optional bool) *cel.Env {
	t.Helper()
	env, err := e.For(d, optional)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// TestEnvFacts checks a few results that the comparison in TestEnv must include.
func TestEnvFacts(t *testing.T) {
	t.Parallel()
	d := types.FromSchema(schemas.Structural(t, envSchema), types.ResourceRoot)
	tests := []struct {
		src             string
		env             *celenv.Env
		optional, wants bool
	}{
		{src: `self == self`, env: celenv.StoredRules(types.Version{Minor: types.Oldest}), wants: true},
		{src: `self == self`, env: celenv.NewRules(types.Version{Minor: types.Oldest}), wants: true},
		{src: `self.namespace == ''`, env: celenv.StoredRules(types.Version{Minor: 31}), wants: true},
		{src: `self.namespace == ''`, env: celenv.StoredRules(types.Version{Minor: 30})},
		{src: `self.namespace == ''`, env: celenv.NewRules(types.Version{Minor: 32}), wants: true},
		{src: `self.namespace == ''`, env: celenv.NewRules(types.Version{Minor: 31})},
		{src: `self.__namespace__ == ''`, env: celenv.StoredRules(types.Version{Minor: 28}), wants: true},
		{src: `self.in == ''`, env: celenv.StoredRules(types.Version{Minor: 37})},
		{src: `ip('::1') == ip('::1')`, env: celenv.StoredRules(types.Version{Minor: 30}), wants: true},
		{src: `ip('::1') == ip('::1')`, env: celenv.NewRules(types.Version{Minor: 30})},
		{src: `oldSelf.hasValue()`, env: celenv.StoredRules(types.Version{Minor: 37}), optional: true, wants: true},
		{src: `oldSelf.hasValue()`, env: celenv.StoredRules(types.Version{Minor: 37})},
	}
	for _, tt := range tests {
		_, issues := env(t, tt.env, d, tt.optional).Compile(tt.src)
		if got := issues.Err() == nil; got != tt.wants {
			t.Errorf("%s: compiles %t, want %t: %v", tt.src, got, tt.wants, issues)
		}
	}
}

func TestEnvHidden(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{x-kubernetes-preserve-unknown-fields: true}`, `{type: array}`, `{}`} {
		d := types.FromSchema(schemas.Structural(t, text), types.Subtree)
		_, err := celenv.StoredRules(types.Version{Minor: types.Newest}).For(d, false)
		if !errors.Is(err, types.ErrHidden) || !strings.Contains(err.Error(), "no CEL type") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
