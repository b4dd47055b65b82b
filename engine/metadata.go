package engine

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/celadon-cel/celadon/engine/internal/respond"
)

// generatedSuffix represents the five random characters that the server appends to
// metadata.generateName. maxGenerated is the maximum length of the name before it.
const (
	generatedSuffix = "00000"
	maxGenerated    = 63 - len(generatedSuffix)
)

func fillCreate(u *unstructured.Unstructured) {
	meta, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		u.Object["metadata"] = meta
	}
	for _, name := range filledIn {
		delete(meta, name)
	}
	meta[generation] = int64(1)
	if name := u.GetGenerateName(); name != "" && u.GetName() == "" {
		u.SetName(name[:min(len(name), maxGenerated)] + generatedSuffix)
	}
}

// filledIn lists the metadata fields that only the server sets on a new object.
var filledIn = []string{"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", selfLink, managedFields, "resourceVersion"}

// fillUpdate copies the metadata that clients cannot set from the old object, so that the update
// equals the update that apply would send.
func fillUpdate(u, old *unstructured.Unstructured) {
	if fillPlainly(u.Object["metadata"], old.Object["metadata"]) {
		return
	}
	u.SetUID(old.GetUID())
	u.SetCreationTimestamp(old.GetCreationTimestamp())
	u.SetManagedFields(nil)
	u.SetGeneration(old.GetGeneration())
	u.SetResourceVersion(old.GetResourceVersion())
	if t := old.GetDeletionTimestamp(); !t.IsZero() {
		u.SetDeletionTimestamp(t)
	}
	if s := old.GetDeletionGracePeriodSeconds(); s != nil && u.GetDeletionGracePeriodSeconds() == nil {
		u.SetDeletionGracePeriodSeconds(s)
	}
}

// fillPlainly does the same for plain metadata, which has no other such fields. It reports whether
// it did. If it returns false, it changes nothing.
func fillPlainly(v, old any) bool {
	if !plainMetadata(v) || !plainMetadata(old) {
		return false
	}
	meta, was := v.(map[string]any), old.(map[string]any)
	if was[generation] == nil {
		return false
	}
	delete(meta, managedFields)
	for _, name := range []string{"uid", "creationTimestamp", "resourceVersion", generation} {
		if v, ok := was[name]; ok {
			meta[name] = v
		} else {
			delete(meta, name)
		}
	}
	return true
}

func hasMetadata(u *unstructured.Unstructured, name string) bool {
	meta, _ := u.Object["metadata"].(map[string]any)
	return meta[name] != nil
}

const (
	managedFields = "managedFields"
	selfLink      = "selfLink"
)

// dedupOwners removes duplicate owner references and adds a warning.
func (w *write) dedupOwners() {
	u := w.obj
	if !hasMetadata(u, "ownerReferences") {
		return
	}
	var kept []metav1.OwnerReference
	var dropped []string
	seen := map[owner]bool{}
	for _, ref := range u.GetOwnerReferences() {
		o := ownerOf(ref)
		if seen[o] {
			dropped = append(dropped, string(ref.UID))
			continue
		}
		seen[o] = true
		kept = append(kept, ref)
	}
	if len(dropped) == 0 {
		return
	}
	u.SetOwnerReferences(kept)
	when := ""
	if w.req.Patched || w.req.Merged {
		when = " after mutating admission happens"
	}
	w.warnings.Add(".metadata.ownerReferences contains duplicate entries" + when + "; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " + strings.Join(dropped, ", "))
}

// An owner is an owner reference in comparable form.
type owner struct {
	ref               metav1.OwnerReference // without pointers
	controller, block flag
}

type flag struct{ set, value bool }

func ownerOf(ref metav1.OwnerReference) owner {
	o := owner{ref: ref, controller: flagOf(ref.Controller), block: flagOf(ref.BlockOwnerDeletion)}
	o.ref.Controller, o.ref.BlockOwnerDeletion = nil, nil
	return o
}

func flagOf(b *bool) flag { return flag{set: b != nil, value: b != nil && *b} }

// warnOfFinalizers warns of new finalizers whose names are invalid or may conflict with finalizers of other
// writers.
func (s *server) warnOfFinalizers(u, old *unstructured.Unstructured, warnings *respond.Warnings) {
	if !s.has[finalizerWarnings] || !hasMetadata(u, "finalizers") {
		return
	}
	added := sets.New(u.GetFinalizers()...)
	if old != nil {
		added = added.Difference(sets.New(old.GetFinalizers()...))
	}
	for _, name := range sets.List(added) {
		for _, msg := range s.metadata.QualifiedName(name) {
			warnings.Add(fmt.Sprintf("metadata.finalizers: %q: %s", name, msg))
		}
		if strings.Contains(name, "/") || standardFinalizer(name) {
			continue
		}
		form := "name"
		if strings.Contains(name, ".") && s.has[finalizerPaths] {
			form = "name including a path (/)"
		}
		warnings.Add(fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer %s to avoid accidental conflicts with other finalizer writers", name, form))
	}
}

func standardFinalizer(name string) bool {
	switch name {
	case metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, "kubernetes":
		return true
	}
	return false
}
