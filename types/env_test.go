package types_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/types"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in      string
		minor   int
		failure string
	}{
		{in: "", minor: types.Newest},
		{in: "1.28", minor: 28},
		{in: "1.33", minor: 33},
		{in: "v1.33", minor: 33},
		{in: "1.33.4", minor: 33},
		{in: "v1.33.4-rc.0+x", minor: 33},
		{in: "1.37", minor: 37},
		{in: "1.27", failure: `kubernetes version "1.27": this build knows 1.28 to 1.37`},
		{in: "1.38", failure: `kubernetes version "1.38": this build knows 1.28 to 1.37`},
		{in: "1.-30", failure: `kubernetes version "1.-30": this build knows 1.28 to 1.37`},
		{in: "2.30", failure: `kubernetes version "2.30": want 1.28 to 1.37`},
		{in: "1", failure: `kubernetes version "1": want 1.28 to 1.37`},
		{in: "1.", failure: `kubernetes version "1.": want 1.28 to 1.37`},
		{in: "1.x", failure: `kubernetes version "1.x": want 1.28 to 1.37`},
		{in: "33", failure: `kubernetes version "33": want 1.28 to 1.37`},
		{in: "latest", failure: `kubernetes version "latest": want 1.28 to 1.37`},
		{in: "1.99999999999999999999", failure: `kubernetes version "1.99999999999999999999": want 1.28 to 1.37`},
	}
	for _, tt := range tests {
		v, err := types.ParseVersion(tt.in)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if v.Minor != tt.minor || got != tt.failure {
			t.Errorf("%q: got %d, %q, want %d, %q", tt.in, v.Minor, got, tt.minor, tt.failure)
		}
	}
	if got := (types.Version{Minor: 33}).String(); got != "1.33" {
		t.Errorf("String: got %q", got)
	}
}

const envSchema = `{type: object, properties: {a-b: {type: string}, namespace: {type: string}, "true": {type: boolean}, in: {type: string}, for: {type: string}, l: {type: array, items: {type: object, properties: {k: {type: string}}}}}}`

func env(t *testing.T, e *types.Env, d *types.Decl, optional bool) *cel.Env {
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
	d := types.FromSchema(structural(t, envSchema), types.ResourceRoot)
	tests := []struct {
		src             string
		env             *types.Env
		optional, wants bool
	}{
		{src: `self == self`, env: types.StoredEnv(types.Version{Minor: types.Oldest}), wants: true},
		{src: `self == self`, env: types.NewRulesEnv(types.Version{Minor: types.Oldest}), wants: true},
		{src: `self.namespace == ''`, env: types.StoredEnv(types.Version{Minor: 31}), wants: true},
		{src: `self.namespace == ''`, env: types.StoredEnv(types.Version{Minor: 30})},
		{src: `self.namespace == ''`, env: types.NewRulesEnv(types.Version{Minor: 32}), wants: true},
		{src: `self.namespace == ''`, env: types.NewRulesEnv(types.Version{Minor: 31})},
		{src: `self.__namespace__ == ''`, env: types.StoredEnv(types.Version{Minor: 28}), wants: true},
		{src: `self.in == ''`, env: types.StoredEnv(types.Version{Minor: 37})},
		{src: `ip('::1') == ip('::1')`, env: types.StoredEnv(types.Version{Minor: 30}), wants: true},
		{src: `ip('::1') == ip('::1')`, env: types.NewRulesEnv(types.Version{Minor: 30})},
		{src: `oldSelf.hasValue()`, env: types.StoredEnv(types.Version{Minor: 37}), optional: true, wants: true},
		{src: `oldSelf.hasValue()`, env: types.StoredEnv(types.Version{Minor: 37})},
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
		d := types.FromSchema(structural(t, text), types.Subtree)
		_, err := types.StoredEnv(types.Version{Minor: types.Newest}).For(d, false)
		if !errors.Is(err, types.ErrHidden) || !strings.Contains(err.Error(), "no CEL type") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
