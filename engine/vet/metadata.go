package vet

import (
	"strings"

	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
)

// metadataErrors returns the errors that the server finds in the CRD's metadata.
//
// The server validates the metadata of any updated object as if the object were new and as a change,
// before the CRD's own function validates the change again, so most causes occur three times. On create,
// the server does this only for a CRD without other errors, and then finds nothing that the CRD's
// function does not.
func (a *admission) metadataErrors() field.ErrorList {
	path, check := field.NewPath("metadata"), metadata.For(a.version.Minor)
	meta := &a.crd.ObjectMeta
	if a.old == nil {
		return check.Distinct(check.Create(meta, false, a.nameReasons, path))
	}
	old := &a.old.ObjectMeta
	errs := append(check.Create(meta, false, metadata.PathSegment, path), check.Update(meta, old, path)...)
	return append(errs, check.Distinct(check.Update(meta, old, path))...)
}

// nameReasons returns the reasons why a name, or the beginning of a name, is not valid for the CRD.
func (a *admission) nameReasons(name string, beginning bool) []string {
	reasons := genericvalidation.NameIsDNSSubdomain(name, beginning)
	if name != a.crd.Spec.Names.Plural+"."+a.crd.Spec.Group {
		reasons = append(reasons, `must be spec.names.plural+"."+spec.group`)
	}
	return reasons
}

// ofMetadata reports whether the linked function found err in the metadata, apart from the annotation
// that approves a protected group.
func ofMetadata(err *field.Error) bool {
	return strings.HasPrefix(err.Field, "metadata.") && !strings.HasPrefix(err.Field, "metadata.annotations[")
}
