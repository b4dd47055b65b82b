package policyvet_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

// TestCompiled reports errors of a server that knows the variable claims and the function startsWith, but not matches.
func TestCompiled(t *testing.T) {
	t.Parallel()
	env, err := cel.NewEnv(cel.Variable("claims", cel.MapType(cel.StringType, cel.DynType)))
	if err != nil {
		t.Fatal(err)
	}
	compile := func(source string) (uint64, error) {
		_, issues := env.Compile(source)
		if strings.Contains(source, "matches") {
			return 0, errors.New("no matches")
		}
		return uint64(len(source)), issues.Err()
	}
	roots := []celenv.Root{{Name: "claims", Type: cel.MapType(cel.StringType, cel.DynType)}}
	for _, tt := range []struct {
		source, hint, fixed string
		offset              int
	}{
		{"claims.a.startswith('b')", "did you mean startsWith?", "claims.a.startsWith('b')", 9},
		{"true &&\nclaim.a == 'b'", "did you mean claims?", "true &&\nclaims.a == 'b'", 8},
		{"claims.a = 'b'", "use == to compare; = is not a CEL operator", "claims.a == 'b'", 9},
		{"claims.a.match('b')", "", "", 14}, // the server does not have matches
		{"claims.a == 'b' && true || claims.c == 'd'", "the estimated cost is 42, and the limit 40", "", 0},
		{"object.a == 'b'", "", "", 0},
	} {
		message := "Forbidden: too complex"
		if _, issues := env.Compile(tt.source); issues != nil {
			message = "Invalid value: " + strconv.Quote(tt.source) + ": compilation failed: " + issues.String()
		}
		c := &policyvet.Compiled{
			Result:      &engine.Result{Causes: []engine.Cause{{Field: "a.expression", Message: message}}},
			Expressions: []policyvet.CompiledExpression{{Path: "a.expression", Source: tt.source, Roots: roots, Limit: 40, Compile: compile, IsCondition: true}},
		}
		r := c.Report("1.37")
		if len(r.Errors) != 1 {
			t.Fatalf("%s: got %d errors", tt.source, len(r.Errors))
		}
		e := r.Errors[0]
		if e.Hint != tt.hint || e.Fixed != tt.fixed || e.Offset != tt.offset || strings.HasPrefix(e.Message, "Invalid value") {
			t.Errorf("%s: got %+v", tt.source, e)
		}
	}
}
