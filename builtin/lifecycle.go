package builtin

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/celadon-cel/celadon/internal/minors"
)

// kept are the minor versions in which no alpha version of a kind is removed, although older
// releases of k8s.io/api announce it: its release 0.38 withdraws all these announcements.
var kept = minors.Since(38)

// An Absence describes why servers of a Kubernetes version have no resource for a kind.
type Absence struct {
	// Introduced and Removed are the minor versions since which the kind is served and no longer served, or 0.
	Introduced, Removed int
	// Replacement replaces a removed kind. It is empty if nothing does.
	Replacement schema.GroupVersionKind
	// Served holds the built-in kinds of the same name, if the kind itself is unknown.
	Served []schema.GroupVersionKind
}

// Absent returns why servers of Kubernetes 1.minor do not serve a kind of a built-in group. It
// returns nil if they serve it, or if the group is not built in. It follows the lifecycles in
// k8s.io/api; a kind without a lifecycle counts as served.
func Absent(kind schema.GroupVersionKind, minor int) *Absence {
	if !legacyscheme.Scheme.IsGroupRegistered(kind.Group) {
		return nil
	}
	object, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		return &Absence{Served: named(kind.Kind)}
	}
	if object, ok := object.(interface{ APILifecycleIntroduced() (int, int) }); ok {
		if _, introduced := object.APILifecycleIntroduced(); introduced > minor {
			return &Absence{Introduced: introduced}
		}
	}
	removable, ok := object.(interface{ APILifecycleRemoved() (int, int) })
	if !ok {
		return nil
	}
	_, removed := removable.APILifecycleRemoved()
	if removed == 0 || removed > minor || kept.Include(removed) && strings.Contains(kind.Version, "alpha") {
		return nil
	}
	a := &Absence{Removed: removed}
	if object, ok := object.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		a.Replacement = object.APILifecycleReplacement()
		return a
	}
	for _, other := range named(kind.Kind) {
		if other.Group == kind.Group && Absent(other, minor) == nil {
			a.Replacement = other
		}
	}
	return a
}

func named(kind string) (kinds []schema.GroupVersionKind) {
	for _, r := range Resources() {
		if r.Kind == kind {
			kinds = append(kinds, r.GroupVersionKind)
		}
	}
	return kinds
}
