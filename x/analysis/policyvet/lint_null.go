package policyvet

import (
	"fmt"

	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// A nullCase is an operation with the root that is null in its requests.
type nullCase struct{ operation, null, other string }

var nullCases = []nullCase{{"DELETE", objectName, oldObjectName}, {"CREATE", oldObjectName, objectName}}

// nullObject reports expressions that fail for each request with an operation, because they read object
// or oldObject, which is null.
func (l *linter) nullObject(s *subject, bindings []*bindingDocument, add reporter) {
	for _, c := range nullCases {
		if !s.match.matches(c.operation) || narrows(bindings, c.operation) {
			continue
		}
		failing := s.failing(c)
		if len(failing) == 0 {
			continue
		}
		x, more := failing[0], ""
		if n := len(failing) - 1; n > 0 {
			more = " (also in " + phrase.Count(n, "more expression") + ")"
		}
		effect := "the request is denied"
		if s.ignore {
			effect = "the policy is ignored"
		}
		add(nullObject, x.path, x.source, fmt.Sprintf("%s matches, where %s is null: reading it fails%s, and %s; test %s != null, use %s, or add the matchCondition request.operation != '%s'",
			c.operation, c.null, more, effect, c.null, c.other, c.operation))
	}
}

// failing returns the expressions that can fail because a root is null. Messages cannot, because the
// server uses another message then.
func (s *subject) failing(c nullCase) (list []*expression) {
	n := newEvaluator(s, c.null, map[string]string{"request.operation": c.operation})
	var conditions []*expression
	for _, x := range s.expressions {
		if x.role != roleCondition || x.tree == nil {
			continue
		}
		switch v := n.top(x); {
		case v.set == isFalse:
			return nil // the policy is skipped
		case v.set&isError != 0:
			conditions = append(conditions, x)
		}
	}
	if len(conditions) > 0 {
		return conditions
	}
	for _, x := range s.expressions {
		if (x.role == roleValidation || x.role == roleAnnotation) && x.tree != nil && n.top(x).set&isError != 0 {
			list = append(list, x)
		}
	}
	return list
}
