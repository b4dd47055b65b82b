package celenv

import (
	"testing"

	"github.com/google/cel-go/cel"
)

// LanguageOf exports languageOf to tests of other packages.
func LanguageOf(t *testing.T, server, runs int) *cel.Env {
	t.Helper()
	env, err := cel.NewEnv(languageOf(server, runs)...)
	if err != nil {
		t.Fatal(err)
	}
	return env
}
