package parse_test

import (
	"testing"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/testing/celexprs"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/parser"
	"k8s.io/apiserver/pkg/cel/environment"
)

func kubernetes(t testing.TB) (side, *cel.Env) {
	t.Helper()
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	config := parse.Config{Macros: env.Macros(), OptionalSyntax: env.HasLibrary("cel.lib.optional")}
	return newSide(t, "kubernetes", config, parser.Macros(env.Macros()...), parser.EnableOptionalSyntax(true)), env
}

func TestCorpusRules(t *testing.T) {
	t.Parallel()
	s, _ := kubernetes(t)
	accepted, all := 0, celexprs.Rules(t)
	for _, rule := range all {
		if s.compare(t, rule) {
			accepted++
		}
	}
	t.Logf("%d of %d rules accepted", accepted, len(all))
}
