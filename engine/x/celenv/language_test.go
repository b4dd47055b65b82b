package celenv

import (
	"testing"

	"github.com/google/cel-go/cel"
)

// LanguageOf returns the environment for expressions in a server of the given minor version that a
// server of the version runs must accept.
func LanguageOf(t *testing.T, server, runs int) *cel.Env {
	t.Helper()
	env, err := cel.NewEnv(languageOf(server, runs)...)
	if err != nil {
		t.Fatal(err)
	}
	return env
}
