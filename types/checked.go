package types

import "github.com/google/cel-go/cel"

// Check parses and checks one expression in an environment that For or Compile
// gave, so that many at one place share it. The error is an *IssuesError where
// the expression is bad.
func Check(env *cel.Env, src string) (*cel.Ast, error) {
	checked, issues := env.Compile(src)
	if issues != nil {
		return nil, &IssuesError{src, issues}
	}
	return checked, nil
}
