package lint

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// A failure is a path of an object at which a rule fails to evaluate, with its error.
type failure struct {
	steps []engine.Step
	self  any
	err   error
}

// pathAndValue returns a phrase with the path and its value, such as "spec.tls is {}". For a whole object
// it omits the fields that every object has.
func (f *failure) pathAndValue() string {
	self := f.self
	if obj, ok := self.(map[string]any); ok && len(f.steps) == 0 {
		obj = maps.Clone(obj)
		for _, key := range []string{"apiVersion", "kind", "metadata"} {
			delete(obj, key)
		}
		self = obj
	}
	return phrase.Path(engine.FormatPath(f.steps)) + " is " + preview.JSON(self, maxShown)
}

// maxShown limits the characters of a value in a message.
const maxShown = 72

type site struct {
	compiler *expr.Compiler
	env      *cel.Env
	steps    []engine.Step
	optional bool // optionalOldSelf
}

func newSite(e *engine.Engine, rule engine.RuleRef) (*site, error) {
	node, err := e.At(rule.Version, rule.Path)
	if err != nil {
		return nil, err
	}
	compiler, err := access.Compiler(node)
	if err != nil {
		return nil, err
	}
	env, err := compiler.Env(rule.OptionalOldSelf)
	if err != nil {
		return nil, err
	}
	steps, err := engine.ParsePath(rule.Path)
	return &site{compiler, env, steps, rule.OptionalOldSelf}, err
}

func (s *site) compile(text string) (*expr.Expr, error) { return s.compiler.Compile(text, s.optional) }

func (s *site) failure(ctx context.Context, x *expr.Expr, seen *engine.Prepared) *failure {
	var overwork *eval.OverworkError
	for _, steps := range matchingPaths(seen.Self, s.steps, nil) {
		self, old, ok := seen.Values(steps)
		if !ok || self == nil || x.UsesOldSelf() && !s.optional && old == nil {
			continue
		}
		out := s.compiler.Eval(ctx, x, s.optional, self, old)
		if out.Err != nil && !out.Stopped && !errors.As(out.Err, &overwork) {
			return &failure{steps, self, out.Err}
		}
	}
	return nil
}

func matchingPaths(v any, path, at []engine.Step) (all [][]engine.Step) {
	if len(path) == 0 {
		return [][]engine.Step{slices.Clone(at)}
	}
	for step, child := range valuediff.Children(v) {
		if step == path[0] || path[0].Any {
			all = append(all, matchingPaths(child, path[1:], append(at, step))...)
		}
	}
	return all
}
