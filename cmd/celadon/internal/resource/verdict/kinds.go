package verdict

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/spell"
)

// unknownKind reports whether an object's group has CRDs, but none for its kind, and rejects the object
// if so. A client finds no endpoint for such an object. If a file could not be read, it may have the
// missing CRD, so the object is undecided.
func (c *Decider) unknownKind(rep *finding.Object) bool {
	group, _, grouped := strings.Cut(rep.APIVersion, "/")
	if !grouped || c.CRDs.catalog.Find(rep.GroupKind()) != nil {
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
	message := fmt.Sprintf("no matches for kind %q in version %q%s", rep.Kind, rep.APIVersion, hint)
	if c.CRDs.lost || len(c.CRDs.Problems) > 0 {
		rep.Verdict, rep.Problem = finding.Undecided, "is undecided: "+message+"; its CRD may be in a file that cannot be read"
		return true
	}
	rep.Verdict, rep.Operation = finding.Invalid, Create
	rep.Status = &finding.Status{Code: 404, Reason: string(metav1.StatusReasonNotFound), Message: message}
	return true
}
