package policies

import (
	"cmp"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint/table"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/assist"
)

// maxHints limits the errors of a set that get hints.
const maxHints = 20

// hintOn describes how to correct an expression of a policy that does not compile, or returns "".
func hintOn(doc *input.Document, e *policy.CompileError, kubeVersion string) string {
	cut, _ := table.Cut(doc.Value(e.Path), e.Offset)
	return cmp.Or(cut, assist.PolicyHint(doc.Object, e, kubeVersion))
}
