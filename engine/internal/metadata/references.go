package metadata

import (
	"fmt"
	"unicode"

	upstream "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/internal/minors"
)

func (v Validator) owners(refs []metav1.OwnerReference, path *field.Path) (errs field.ErrorList) {
	controller := ""
	for i, ref := range refs {
		if v.has(strictOwners) {
			errs = append(errs, v.owner(&ref, path.Index(i))...)
		} else {
			errs = append(errs, v.lenientOwner(&ref, path)...)
		}
		if ref.Controller == nil || !*ref.Controller {
			continue
		}
		name := ref.Kind + "/" + ref.Name
		if controller != "" {
			errs = append(errs, field.Invalid(path, refs, fmt.Sprintf("Only one reference can have Controller set to true. Found \"true\" in references for %v and %v", controller, name)))
		} else {
			controller = name
		}
	}
	return errs
}

type ownerField struct {
	name  string
	value any
	empty bool
}

func ownerFields(ref *metav1.OwnerReference) []ownerField {
	return []ownerField{{"kind", ref.Kind, ref.Kind == ""}, {"name", ref.Name, ref.Name == ""}, {"uid", ref.UID, ref.UID == ""}}
}

func (v Validator) owner(ref *metav1.OwnerReference, path *field.Path) (errs field.ErrorList) {
	const missing = "must not be empty"
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if ref.APIVersion == "" {
		errs = append(errs, field.Required(path.Child("apiVersion"), missing).MarkCoveredByDeclarative())
	} else if err != nil || gv.Version == "" {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), ref.APIVersion, "must be <group>/<version> or <version>"))
	}
	for _, f := range ownerFields(ref) {
		if f.empty {
			errs = append(errs, field.Required(path.Child(f.name), missing).MarkCoveredByDeclarative())
		}
	}
	return append(errs, banned(ref, gv.WithKind(ref.Kind), path)...)
}

func (v Validator) lenientOwner(ref *metav1.OwnerReference, path *field.Path) (errs field.ErrorList) {
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	if gvk.Version == "" {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), ref.APIVersion, "version must not be empty"))
	}
	for _, f := range ownerFields(ref) {
		if !f.empty {
			continue
		}
		detail := "must not be empty"
		if v.has(namedOwnerFields) {
			detail = f.name + " " + detail
		}
		errs = append(errs, field.Invalid(path.Child(f.name), f.value, detail))
	}
	return append(errs, banned(ref, gvk, path)...)
}

func banned(ref *metav1.OwnerReference, gvk schema.GroupVersionKind, path *field.Path) field.ErrorList {
	if _, ok := upstream.BannedOwners[gvk]; !ok {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *ref, fmt.Sprintf("%s is disallowed from being an owner", gvk))}
}

func (v Validator) managedFields(entries []metav1.ManagedFieldsEntry, path *field.Path) (errs field.ErrorList) {
	for i := range entries {
		entry, at := &entries[i], path.Index(i)
		errs = append(errs, v.operation(entry.Operation, at.Child("operation"))...)
		if entry.FieldsType != "" && entry.FieldsType != "FieldsV1" {
			errs = append(errs, field.Invalid(at.Child("fieldsType"), entry.FieldsType, "must be `FieldsV1`"))
		}
		errs = append(errs, v.manager(entry.Manager, at.Child("manager"))...)
		if len(entry.Subresource) > validation.MaxSubresourceNameLength {
			errs = append(errs, v.tooLong(at.Child("subresource"), validation.MaxSubresourceNameLength))
		}
	}
	return errs
}

func (v Validator) operation(op metav1.ManagedFieldsOperationType, path *field.Path) field.ErrorList {
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	switch {
	case op == apply || op == update:
		return nil
	case !v.has(managedOperations):
		return field.ErrorList{field.Invalid(path, op, "must be `Apply` or `Update`")}
	case op == "":
		return field.ErrorList{field.Required(path, "must not be empty")}
	}
	return field.ErrorList{field.NotSupported(path, op, []metav1.ManagedFieldsOperationType{apply, update})}
}

func (v Validator) manager(name string, path *field.Path) (errs field.ErrorList) {
	if len(name) > validation.FieldManagerMaxLength {
		errs = append(errs, v.tooLong(path, validation.FieldManagerMaxLength))
	}
	for i, r := range name {
		if !unicode.IsPrint(r) {
			errs = append(errs, field.Invalid(path, name, fmt.Sprintf("invalid character %#U (at position %d)", r, i)))
		}
	}
	return errs
}

// The parts of the validation that not all minor versions have.
var (
	// strictOwners: owner references are reported with their index, missing fields as Required, and
	// a malformed apiVersion as Invalid.
	strictOwners = minors.Since(37) // k8s.io/apimachinery/pkg/api/validation/objectmeta.go, ValidateOwnerReferences
	// namedOwnerFields: the error for a missing field of an owner reference repeats its name.
	namedOwnerFields = minors.Until(34) // the same file, validateOwnerReference
	// updatedGeneration: an update reports a negative generation as well.
	updatedGeneration = minors.Since(37) // the same file, ValidateObjectMetaAccessorUpdate
	// managedOperations: an operation of managedFields is reported as missing or unsupported, not as
	// invalid.
	managedOperations = minors.Since(37) // k8s.io/apimachinery/pkg/apis/meta/v1/validation, ValidateManagedFields
	// distinct: duplicate metadata errors of custom resources and embedded resources are removed.
	distinct = minors.Since(37) // k8s.io/apimachinery/pkg/api/validate/errors.go, FilterCoveredHandwrittenErrors
	// bareOwners: a missing field of an owner reference has no detail in errors of custom resources and
	// embedded resources, because they come from generated code.
	bareOwners = minors.Since(38) // k8s.io/apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaDeclaratively
)

// The messages whose words differ. Each is a format with one operand.
var (
	// k8s.io/apimachinery/pkg/util/validation.IsQualifiedName, and since 1.35
	// k8s.io/apimachinery/pkg/api/validate/content.IsLabelKey
	qualifiedName = minors.Texts{
		{In: minors.Until(35), Text: "a qualified name %s"},
		{In: minors.Since(35), Text: "a valid label key %s"},
	}
	qualifiedNameLength = minors.Texts{
		{In: minors.Until(35), Text: "must be no more than %d characters"},
		{In: minors.Since(35), Text: "must be no more than %d bytes"},
	}
	// k8s.io/apimachinery/pkg/util/validation/field.TooLong
	tooLong = minors.Texts{
		{In: minors.Until(32), Text: "must have at most %d bytes"},
		{In: minors.Since(32), Text: "may not be more than %d bytes"},
	}
)

func (v Validator) tooLong(path *field.Path, limit int) *field.Error {
	err := field.TooLong(path, "", limit)
	err.Detail = fmt.Sprintf(tooLong.For(v.minor), limit)
	return err
}
