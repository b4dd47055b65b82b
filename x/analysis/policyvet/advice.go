package policyvet

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/types/path"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// maxExplained limits the errors and the warnings of a report that get corrections, and maxExplainedLength the length
// of their expressions in bytes.
const (
	maxExplained       = 20
	maxExplainedLength = 10_000
)

func (v *vetter) explainErrors(r *Report, c *policy.TypeChecker, s *subject) {
	kinds, _ := v.cfg.Schemas.matched(&s.match)
	var of []*kind
	for _, k := range kinds[:min(len(kinds), 1)] {
		of = append(of, k.kind)
	}
	for i := range r.Errors[:min(len(r.Errors), maxExplained)] {
		if e := &r.Errors[i]; strings.HasPrefix(e.Path, s.prefix) && e.Hint == "" {
			mistakes := resultMistakes
			if strings.HasPrefix(e.Path, "spec.mutations[") {
				mistakes = mutationMistakes
			}
			if !v.explainKnown(s, of, mistakes, e) {
				v.explain(c, s, append(of, nil), e.Path, e.Expression, &e.Advice)
			}
		}
	}
}

func (v *vetter) explainWarnings(r *Report, c *policy.TypeChecker, s *subject, path string) {
	for i := range r.Warnings[:min(len(r.Warnings), maxExplained)] {
		if w := &r.Warnings[i]; w.Path == path && !w.Harmless && w.Hint == "" {
			v.explain(c, s, w.kinds, w.Path, w.Expression, &w.Advice)
		}
	}
}

// explain adds the hint and the correction of an expression that does not compile. A nil item of kinds is any kind.
func (v *vetter) explain(c *policy.TypeChecker, s *subject, kinds []*kind, path, source string, to *Advice) {
	x := s.at(path)
	if x == nil || len(source) > maxExplainedLength {
		return
	}
	for _, k := range kinds {
		roots, err := c.Roots(path, v.cfg.Schemas.declare(k), v.params(s))
		if err != nil || roots == nil {
			continue
		}
		in := assist.NewPolicyContext(v.version.String(), partOf[x.Part], roots)
		problem := in.Problem(source, to.Offset)
		if problem == nil {
			continue
		}
		to.Offset, to.Hint = problem.Start, problem.Hint()
		if fixed := strings.TrimSpace(problem.Fixed(source)); fixed != "" && v.isCorrect(s, kinds, path, fixed) {
			to.Fixed = fixed
		}
		return
	}
}

var partOf = map[string]assist.Part{policy.PartCondition: assist.Rule, policy.PartValidation: assist.Rule, policy.PartMessage: assist.MessageExpression}

func (v *vetter) params(s *subject) *types.Decl {
	return v.cfg.Schemas.declare(v.cfg.Schemas.byName[s.params])
}

// isCorrect reports whether the expression at a path can be replaced: all Kubernetes versions of the configuration
// accept the new expression, and it fits the types of the kinds.
func (v *vetter) isCorrect(s *subject, kinds []*kind, path, source string) bool {
	fixed := runtime.DeepCopyJSON(s.document)
	if !setAt(fixed, path, source) {
		return false
	}
	for _, version := range append([]string{v.version.String()}, v.cfg.KubeVersions...) {
		_, err := policy.Compile([]map[string]any{fixed}, policy.Config{KubeVersion: version, New: true})
		invalid, ok := err.(*policy.CompileErrors)
		if err != nil && !ok {
			return false
		}
		for i := 0; ok && i < len(invalid.Errors); i++ {
			if invalid.Errors[i].Path == path {
				return false
			}
		}
	}
	c, err := policy.NewTypeChecker(fixed, policy.Config{KubeVersion: v.version.String()})
	if err != nil {
		return false
	}
	for _, k := range kinds {
		list, err := c.Check(v.cfg.Schemas.declare(k), v.params(s))
		if err != nil {
			return false
		}
		for _, x := range list {
			if x.Path == path && x.Issues != "" {
				return false
			}
		}
	}
	return true
}

func (v *vetter) swallowed(r *Report, s *subject) {
	for _, x := range s.expressions {
		if r.hasError(x.Path) || !strings.Contains(x.Source, "//") || slices.Contains(v.cfg.Without, swallowedComment) {
			continue
		}
		fixed, at := lex.Swallowed(x.Source, func(src string) bool { return v.isCorrect(s, nil, x.Path, src) })
		if fixed != "" {
			r.Lints = append(r.Lints, Lint{swallowedComment, x.Path, x.Source, lex.SwallowedMessage, Advice{Offset: at, Fixed: fixed}})
		}
	}
}

func setAt(document map[string]any, path, value string) bool {
	end := strings.LastIndexByte(path, '.')
	of, _ := valueAt(document, path[:max(0, end)]).(map[string]any)
	_, ok := of[path[end+1:]].(string)
	if ok {
		of[path[end+1:]] = value
	}
	return ok
}

func valueAt(document map[string]any, at string) any {
	steps, err := path.Parse(at)
	if err != nil {
		return nil
	}
	value, _ := valuediff.At(document, steps...)
	return value
}
