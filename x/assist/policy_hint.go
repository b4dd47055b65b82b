package assist

import (
	"strings"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/types/path"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// maxHinted limits the length of expressions that get hints, in bytes.
const maxHinted = 10_000

// PolicyHint describes how to correct an expression of a policy that does not compile, or returns "".
func PolicyHint(document map[string]any, e *policy.CompileError, kubeVersion string) string {
	steps, err := path.Parse(e.Path)
	if err != nil {
		return ""
	}
	value, _ := valuediff.At(document, steps...)
	source, _ := value.(string)
	if source == "" || len(source) > maxHinted {
		return ""
	}
	checker, err := policy.NewTypeChecker(document, policy.Config{KubeVersion: kubeVersion})
	if err != nil {
		return ""
	}
	roots, err := checker.Roots(e.Path, nil, nil)
	if err != nil || roots == nil {
		return ""
	}
	part := Rule
	if strings.HasSuffix(e.Path, ".messageExpression") {
		part = MessageExpression
	}
	if problem := NewPolicyContext(kubeVersion, part, roots).Problem(source, e.Offset); problem != nil && problem.Code != WrongType {
		return problem.Hint()
	}
	return ""
}
