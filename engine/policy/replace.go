package policy

import (
	"fmt"
	"slices"
	"sync"
)

// WithExpression returns a Set in which an expression has another source: x identifies the expression
// by Policy, Part, and Index, and Source is the new source. Messages stay as they are. The error is an
// *ExpressionError if the source does not compile.
func (s *Set) WithExpression(x Expression) (set *Set, err error) {
	defer func() {
		if p := recover(); p != nil {
			set, err = nil, internal(x.Policy, p)
		}
	}()
	i := slices.IndexFunc(s.policies, func(p *compiledPolicy) bool { return p.name == x.Policy })
	if i < 0 {
		return nil, fmt.Errorf("no policy %q", x.Policy)
	}
	doc, path := s.policies[i].document.with(&x)
	if doc == nil {
		return nil, fmt.Errorf("policy %s has no %s %d", x.Policy, x.Part, x.Index)
	}
	var invalid error
	program, err := newPolicyProgram(s.settings, doc, func(at, detail string, _ int) {
		if at == path && invalid == nil {
			invalid = &ExpressionError{detail}
		}
	})
	switch {
	case err != nil:
		return nil, err
	case invalid != nil:
		return nil, invalid
	}
	derived := *s
	derived.policies = slices.Clone(s.policies)
	derived.policies[i] = s.policies[i].with(s.settings, doc, program)
	return &derived, nil
}

// with returns a copy of the document with another source of an expression, and the path of the
// expression. It returns nil if the document lacks the expression.
func (d *policyDocument) with(x *Expression) (changed *policyDocument, path string) {
	out := *d
	var list []*string
	var field string
	switch x.Part {
	case "matchCondition":
		field, out.Spec.MatchConditions = "matchConditions", slices.Clone(d.Spec.MatchConditions)
		for i := range out.Spec.MatchConditions {
			list = append(list, &out.Spec.MatchConditions[i].Expression)
		}
	case "variable":
		field, out.Spec.Variables = "variables", slices.Clone(d.Spec.Variables)
		for i := range out.Spec.Variables {
			list = append(list, &out.Spec.Variables[i].Expression)
		}
	case "validation":
		field, out.Spec.Validations = "validations", slices.Clone(d.Spec.Validations)
		for i := range out.Spec.Validations {
			list = append(list, &out.Spec.Validations[i].Expression)
		}
	}
	if x.Index < 0 || x.Index >= len(list) {
		return nil, ""
	}
	*list[x.Index] = x.Source
	return &out, fmt.Sprintf("spec.%s[%d].expression", field, x.Index)
}

// with returns a copy of the policy with other expressions, and with the same messages.
func (p *compiledPolicy) with(s settings, doc *policyDocument, program *program) *compiledPolicy {
	changed := &compiledPolicy{
		kind: p.kind, name: p.name, program: program, constraints: p.constraints, ignore: p.ignore, paramKind: p.paramKind, validations: p.validations,
		annotationKeys: p.annotationKeys, bindings: p.bindings, document: doc,
	}
	changed.runs.New = func() any { return newRun(program) }
	changed.explained = sync.OnceValues(func() (*explainer, error) { return newExplainer(s, doc) })
	return changed
}
