// Package metadata validates the metadata of objects as the API servers of each Kubernetes minor
// version do.
package metadata

import (
	"maps"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	upstream "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/internal/minors"
)

// A Validator validates metadata as the API server of one minor version does. Errors of labels and annotations are
// sorted by key; the server returns them in random order.
type Validator struct{ minor int }

// For returns the validator of Kubernetes 1.minor.
func For(minor int) Validator { return Validator{minor} }

func (v Validator) has(in minors.Range) bool { return in.Include(v.minor) }

// Create validates the metadata of a new object. name checks its name and generateName.
func (v Validator) Create(meta metav1.Object, namespaced bool, name upstream.ValidateNameFunc, path *field.Path) (errs field.ErrorList) {
	if prefix := meta.GetGenerateName(); prefix != "" {
		errs = append(errs, invalidEach(path.Child("generateName"), prefix, name(prefix, true), "")...)
	}
	if own := meta.GetName(); own == "" {
		errs = append(errs, field.Required(path.Child("name"), "name or generateName is required"))
	} else {
		errs = append(errs, invalidEach(path.Child("name"), own, name(own, false), "")...)
	}
	errs = append(errs, namespace(meta.GetNamespace(), namespaced, path.Child("namespace"))...)
	errs = append(errs, upstream.ValidateNonnegativeField(meta.GetGeneration(), path.Child("generation"))...)
	errs = append(errs, v.labels(meta.GetLabels(), path.Child("labels"))...)
	errs = append(errs, v.annotations(meta.GetAnnotations(), path.Child("annotations"))...)
	errs = append(errs, v.owners(meta.GetOwnerReferences(), path.Child("ownerReferences"))...)
	errs = append(errs, v.finalizers(meta.GetFinalizers(), path.Child("finalizers"))...)
	return append(errs, v.managedFields(meta.GetManagedFields(), path.Child("managedFields"))...)
}

// Update validates a change of the metadata from old to meta.
func (v Validator) Update(meta, old metav1.Object, path *field.Path) (errs field.ErrorList) {
	if old.GetDeletionTimestamp() != nil {
		errs = append(errs, upstream.ValidateNoNewFinalizers(meta.GetFinalizers(), old.GetFinalizers(), path.Child("finalizers"))...)
	}
	if version := meta.GetResourceVersion(); version == "" {
		errs = append(errs, field.Invalid(path.Child("resourceVersion"), version, "must be specified for an update"))
	}
	if v.has(updatedGeneration) {
		errs = append(errs, upstream.ValidateNonnegativeField(meta.GetGeneration(), path.Child("generation"))...)
	}
	if meta.GetGeneration() < old.GetGeneration() {
		errs = append(errs, field.Invalid(path.Child("generation"), meta.GetGeneration(), "must not be decremented"))
	}
	errs = append(errs, immutable(meta.GetName(), old.GetName(), path.Child("name"))...)
	errs = append(errs, immutable(meta.GetNamespace(), old.GetNamespace(), path.Child("namespace"))...)
	errs = append(errs, immutable(meta.GetUID(), old.GetUID(), path.Child("uid")).WithOrigin("immutable")...)
	errs = append(errs, immutable(meta.GetCreationTimestamp(), old.GetCreationTimestamp(), path.Child("creationTimestamp")).WithOrigin("immutable")...)
	errs = append(errs, immutable(meta.GetDeletionTimestamp(), old.GetDeletionTimestamp(), path.Child("deletionTimestamp")).WithOrigin("immutable")...)
	errs = append(errs, immutable(meta.GetDeletionGracePeriodSeconds(), old.GetDeletionGracePeriodSeconds(), path.Child("deletionGracePeriodSeconds")).WithOrigin("immutable")...)
	errs = append(errs, v.labels(meta.GetLabels(), path.Child("labels"))...)
	errs = append(errs, v.annotations(meta.GetAnnotations(), path.Child("annotations"))...)
	owners := v.owners(meta.GetOwnerReferences(), path.Child("ownerReferences"))
	if len(owners) > 0 && apiequality.Semantic.DeepEqual(meta.GetOwnerReferences(), old.GetOwnerReferences()) {
		for _, err := range owners {
			err.CoveredByDeclarative = false // the generated code skips unchanged references
		}
	}
	errs = append(errs, owners...)
	return append(errs, v.managedFields(meta.GetManagedFields(), path.Child("managedFields"))...)
}

// Distinct returns the errors of Create or Update as the server reports them for custom resources and embedded
// resources. It modifies errs.
func (v Validator) Distinct(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		if v.has(bareOwners) && err.CoveredByDeclarative {
			err.Detail = ""
		}
	}
	if !v.has(distinct) || len(errs) < 2 {
		return errs
	}
	seen := make(sets.Set[string], len(errs))
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		text := err.Error()
		known := seen.Has(text)
		seen.Insert(text)
		return known
	})
}

func invalidEach(path *field.Path, value any, messages []string, origin string) (errs field.ErrorList) {
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message).WithOrigin(origin))
	}
	return errs
}

func immutable(value, old any, path *field.Path) field.ErrorList {
	if apiequality.Semantic.DeepEqual(old, value) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, upstream.FieldImmutableErrorMsg)}
}

func namespace(name string, namespaced bool, path *field.Path) field.ErrorList {
	switch {
	case !namespaced && name != "":
		return field.ErrorList{field.Forbidden(path, "not allowed on this type")}
	case !namespaced:
		return nil
	case name == "":
		return field.ErrorList{field.Required(path, "")}
	}
	return invalidEach(path, name, upstream.ValidateNamespaceName(name, false), "")
}

func (v Validator) labels(labels map[string]string, path *field.Path) (errs field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		errs = append(errs, invalidEach(path, key, v.QualifiedName(key), "format=k8s-label-key")...)
		errs = append(errs, invalidEach(path, labels[key], v.labelValue(labels[key]), "format=k8s-label-value")...)
	}
	return errs
}

// Like the server, annotations ignores the case of keys.
func (v Validator) annotations(annotations map[string]string, path *field.Path) (errs field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		errs = append(errs, invalidEach(path, key, v.QualifiedName(strings.ToLower(key)), "format=k8s-label-key")...)
	}
	if upstream.ValidateAnnotationsSize(annotations) != nil {
		errs = append(errs, v.tooLong(path, upstream.TotalAnnotationSizeLimitB))
	}
	return errs
}

func (v Validator) finalizers(names []string, path *field.Path) (errs field.ErrorList) {
	for _, name := range names {
		errs = append(errs, invalidEach(path, name, v.QualifiedName(name), "")...)
	}
	if set := sets.New(names...); set.HasAll(metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents) {
		errs = append(errs, field.Invalid(path, names, "finalizer "+metav1.FinalizerOrphanDependents+" and "+metav1.FinalizerDeleteDependents+" cannot be both set"))
	}
	return errs
}
