package verdict

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/spell"
)

// unknownKind reports whether an object's group has CRDs, but none for its kind, and rejects the object
// if so. A client finds no endpoint for such an object. If a CRD could not be read, it may be the
// missing one.
func (c *Decider) unknownKind(rep *finding.Object) bool {
	group, _, grouped := strings.Cut(rep.APIVersion, "/")
	if !grouped || c.CRDs.lost || len(c.CRDs.Problems) > 0 || c.CRDs.catalog.Find(rep.GroupKind()) != nil {
		return false
	}
	var kinds []string
	for _, def := range c.CRDs.All {
		if def.CRD.Spec.Group == group {
			kinds = append(kinds, def.CRD.Spec.Names.Kind)
		}
	}
	if len(kinds) == 0 {
		return false
	}
	hint := spell.DidYouMean(rep.Kind, kinds)
	if hint == "" {
		hint = fmt.Sprintf(": the CRDs of %s do not define it", group)
	}
	rep.Verdict, rep.Operation = finding.Invalid, Create
	rep.Status = &finding.Status{
		Code:    404,
		Reason:  string(metav1.StatusReasonNotFound),
		Message: fmt.Sprintf("no matches for kind %q in version %q%s", rep.Kind, rep.APIVersion, hint),
	}
	return true
}
