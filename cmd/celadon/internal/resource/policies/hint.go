package policies

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/types/path"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// maxHints limits the errors of a set that get hints, and maxHinted the length of their expressions in bytes.
const (
	maxHints  = 20
	maxHinted = 10_000
)

// hintOn describes how to correct an expression of a policy that does not compile, or returns "".
func hintOn(doc *input.Document, e *policy.CompileError, kubeVersion string) string {
	if text := hint.Cut(doc.Value(e.Path), e.Offset); text != "" {
		return text
	}
	document := doc.Object
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
	part := assist.Rule
	if strings.HasSuffix(e.Path, ".messageExpression") {
		part = assist.MessageExpression
	}
	if problem := assist.NewPolicyContext(kubeVersion, part, roots).Problem(source, e.Offset); problem != nil {
		return problem.Hint()
	}
	return ""
}
