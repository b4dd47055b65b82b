// Package access gives Celadon's own packages the compilers behind an engine, with cel-go's types.
package access

import (
	"errors"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// Env returns the environment in which the rules of a configuration compile.
func Env(cfg engine.Config) (*celenv.Env, error) {
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	return celenv.ForRules(v, cfg.Expressions == engine.New), nil
}

// Compiler returns a compiler of expressions for a node. It returns types.ErrHidden if rules cannot be
// declared there. An invalid expression is a *engine.CompileError whose Part is "rule".
func Compiler(n *engine.Node) (*expr.Compiler, error) {
	env, err := Env(n.Config)
	if err != nil {
		return nil, err
	}
	invalid := func(src string, err error) error {
		e := &engine.CompileError{RuleRef: engine.RuleRef{Version: n.Version, Path: n.Path, Rule: src}, Part: "rule", Detail: err.Error()}
		var issues *celenv.IssuesError
		if errors.As(err, &issues) {
			e.Line, e.Column, e.Snippet = issues.Place()
		}
		return e
	}
	return expr.NewCompiler(env, n.Decl, n.Bare, n.Config.Limits.PerCall, invalid)
}
