package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/celadon-cel/celadon/engine/internal/respond"
)

// The server appends five random characters to metadata.generateName. maxGenerated is the maximum length of the name
// before it.
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

var filledIn = []string{"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", selfLink, managedFields, "resourceVersion"}

// fillUpdate copies the metadata that clients cannot set from the old object. It drops managedFields, so that the
// update equals the update that apply would send.
func fillUpdate(u, old *unstructured.Unstructured) {
	meta, ok := u.Object["metadata"].(map[string]any)
	was, _ := old.Object["metadata"].(map[string]any)
	if !ok {
		if _, malformed := u.Object["metadata"]; malformed || was == nil {
			return
		}
		meta = map[string]any{}
		u.Object["metadata"] = meta
	}
	delete(meta, managedFields)
	for _, name := range []string{"uid", "creationTimestamp", "resourceVersion", generation} {
		if v := was[name]; v != nil {
			meta[name] = v
		} else {
			delete(meta, name)
		}
	}
	if t := was["deletionTimestamp"]; t != nil {
		meta["deletionTimestamp"] = t
	}
	if s := was["deletionGracePeriodSeconds"]; s != nil && meta["deletionGracePeriodSeconds"] == nil {
		meta["deletionGracePeriodSeconds"] = s
	}
}

func hasMetadata(u *unstructured.Unstructured, name string) bool {
	meta, _ := u.Object["metadata"].(map[string]any)
	return meta[name] != nil
}

const (
	managedFields = "managedFields"
	selfLink      = "selfLink"
)

func (w *write) dedupOwners() {
	u := w.obj
	if !hasMetadata(u, "ownerReferences") {
		return
	}
	var kept []metav1.OwnerReference
	var dropped []string
	seen := sets.Set[string]{}
	for _, ref := range u.GetOwnerReferences() {
		form, _ := json.Marshal(ref)
		if seen.Has(string(form)) {
			dropped = append(dropped, string(ref.UID))
			continue
		}
		seen.Insert(string(form))
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

func (s server) warnOfFinalizers(u, old *unstructured.Unstructured, warnings *respond.Warnings) {
	if !s.has(finalizerWarnings) || !hasMetadata(u, "finalizers") {
		return
	}
	added := sets.New(u.GetFinalizers()...)
	if old != nil {
		added = added.Difference(sets.New(old.GetFinalizers()...))
	}
	for _, name := range sets.List(added) {
		for _, msg := range s.metadata().QualifiedName(name) {
			warnings.Add(fmt.Sprintf("metadata.finalizers: %q: %s", name, msg))
		}
		if strings.Contains(name, "/") || standardFinalizer(name) {
			continue
		}
		form := "name"
		if strings.Contains(name, ".") && s.has(finalizerPaths) {
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
