package celparse_test

import (
	"testing"

	"github.com/celadon-cel/celadon/internal/celparse"
	"github.com/celadon-cel/celadon/internal/celtexts"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/parser"
	"k8s.io/apiserver/pkg/cel/environment"
)

// kubernetes is the parser of the newest environment, twice.
func kubernetes(t testing.TB) (side, *cel.Env) {
	t.Helper()
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	config := celparse.Config{Macros: env.Macros(), OptionalSyntax: env.HasLibrary("cel.lib.optional")}
	return newSide(t, "kubernetes", config, parser.Macros(env.Macros()...), parser.EnableOptionalSyntax(true)), env
}

// TestCorpusRules parses every rule of the corpora.
func TestCorpusRules(t *testing.T) {
	t.Parallel()
	s, _ := kubernetes(t)
	accepted, all := 0, celtexts.Rules(t)
	for _, rule := range all {
		if s.compare(t, rule) {
			accepted++
		}
	}
	t.Logf("%d of %d rules accepted", accepted, len(all))
}
