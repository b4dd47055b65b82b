package engine

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/celadon-cel/celadon/engine/x/schema"
)

// checkCreate runs the checks of a create in the API server's order.
func (w *write) checkCreate() {
	values, plain := w.version.values, w.plainMetadata()
	errs := w.typeMeta()
	if len(errs) == 0 {
		if !plain {
			errs = append(errs, w.objectMeta(operation.Create)...)
		}
		errs = append(errs, w.decided(values.Validate(nil, w.obj.Object))...)
		errs = append(errs, w.scaleSpec()...)
		errs = append(errs, w.scaleStatus()...)
	}
	if values.Embedded() {
		errs = append(errs, values.ValidateEmbedded(w.ctx, nil, w.obj.Object)...)
	}
	errs = append(errs, values.ListTypes(nil, w.obj.Object)...)
	w.fail(errs)
	w.rules(errs)
	if !w.refused() && !plain {
		w.fail(metavalidation.ValidateObjectMetaAccessor(w.obj, w.engine.namespaced, pathSegment, metadataPath))
	}
}

// checkUpdate runs the checks of an update in the API server's order. Unchanged values are
// ratcheted.
func (w *write) checkUpdate() {
	values, plain := w.version.values, w.plainMetadata() && w.unchangedMetadata()
	if !plain {
		w.fail(w.commonMeta())
	}
	errs := w.typeMeta()
	if len(errs) == 0 {
		if !plain {
			errs = append(errs, w.objectMeta(operation.Update)...)
		}
		errs = append(errs, w.changed(values, nil, w.obj.Object, w.old.Object)...)
		errs = append(errs, w.scaleSpec()...)
		errs = append(errs, w.scaleStatus()...)
	}
	if values.Embedded() {
		errs = append(errs, values.ValidateEmbedded(w.ctx, nil, w.obj.Object)...)
	}
	errs = append(errs, w.listTypes()...)
	w.fail(errs)
	w.rules(errs)
}

// checkStatus checks a status update: the schema of status only, and all rules.
func (w *write) checkStatus() {
	plain := w.plainMetadata() && w.unchangedMetadata()
	if !plain {
		w.fail(w.commonMeta())
	}
	errs := w.typeMeta()
	if len(errs) == 0 {
		if !plain {
			errs = append(errs, w.objectMeta(operation.Update)...)
		}
		if status, ok := w.obj.Object["status"]; ok && w.version.status != nil {
			errs = append(errs, w.changed(w.version.status, field.NewPath("status"), status, w.old.Object["status"])...)
		}
		errs = append(errs, w.scaleStatus()...)
	}
	errs = append(errs, w.listTypes()...)
	w.fail(errs)
	w.rules(errs)
}

// changed validates v against s. Unless ratcheting is off, errors in values equal to old are
// ignored.
func (w *write) changed(s *schema.Schema, path *field.Path, v, old any) field.ErrorList {
	if w.engine.config.NoRatcheting {
		return w.decided(s.Validate(path, v))
	}
	return w.decided(s.ValidateUpdate(path, v, old))
}

// decided returns errs, unless they consist of the error of a schema that exceeds the work limit.
// That error makes the write undecided, so it is moved to w.unknown.
func (w *write) decided(errs field.ErrorList) field.ErrorList {
	if len(errs) != 1 || errs[0].Origin != schema.WorkLimit {
		return errs
	}
	w.unknown = &WorkLimitError{Rule: RuleRef{Version: w.version.name, Path: errs[0].Field}, Part: "schema", Reason: errs[0].Detail, field: errs[0].Field}
	return nil
}

// listTypes checks sets and map lists. It returns no errors if the old object already had errors.
func (w *write) listTypes() field.ErrorList {
	errs := w.version.values.ListTypes(nil, w.obj.Object)
	if len(errs) > 0 && len(w.version.values.ListTypes(nil, w.old.Object)) > 0 {
		return nil
	}
	return errs
}

// plainMetadata reports whether the object's metadata is plain and valid, apart from the comparison
// with the old object. If it returns false, the metadata may still be valid.
func (w *write) plainMetadata() bool {
	meta, ok := w.obj.Object["metadata"].(map[string]any)
	return ok && plainMetadata(meta) && validMetadata(meta, w.engine.namespaced)
}

// unchangedMetadata reports whether an update keeps the metadata fields that must not change.
func (w *write) unchangedMetadata() bool {
	meta, _ := w.obj.Object["metadata"].(map[string]any)
	old, ok := w.old.Object["metadata"].(map[string]any)
	if !ok || !plainMetadata(old) {
		return false
	}
	for _, name := range []string{"name", "namespace", "uid", "creationTimestamp"} {
		if meta[name] != old[name] {
			return false
		}
	}
	was, _ := old[generation].(int64)
	is, _ := meta[generation].(int64)
	return is >= was
}

const rulesSkipped = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// rules runs the rules, unless earlier errors show that the object does not have the types and
// sizes that rules rely on.
func (w *write) rules(earlier field.ErrorList) {
	if w.version.rules.root == nil {
		return
	}
	for _, err := range earlier {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			w.fail(field.ErrorList{field.Invalid(nil, nil, rulesSkipped)})
			return
		}
	}
	var old any
	if w.old != nil {
		old = w.old.Object
		defer w.manage()()
	}
	run := w.version.rules.run(w.ctx, w.engine.limits.PerObject, w.tally)
	run.warn = w.warnings.Add
	defer run.done()
	run.root(nil, w.obj.Object, old)
	w.bug = run.bug
	w.cost = run.cost
	if w.unknown == nil {
		w.unknown = run.unknown
	}
	w.findings = append(w.findings, run.findings...)
}

func (w *write) typeMeta() field.ErrorList {
	var errs field.ErrorList
	if kind := w.obj.GetKind(); kind != w.engine.kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, "must be "+w.engine.kind))
	}
	want := w.version.apiVersion
	if apiVersion := w.obj.GetAPIVersion(); apiVersion != want {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), apiVersion, "must be "+want))
	}
	return errs
}

var metadataPath = field.NewPath("metadata")

// objectMeta validates the metadata as the API server's custom resource strategy does.
func (w *write) objectMeta(op operation.Type) field.ErrorList {
	meta, errs := metadataOf(w.obj)
	if len(errs) > 0 {
		return errs
	}
	var old *metav1.ObjectMeta
	var name metavalidation.ValidateNameFunc = metavalidation.NameIsDNSSubdomain
	if op == operation.Update {
		name = nil
		if old, errs = metadataOf(w.old); len(errs) > 0 {
			return errs
		}
		meta.ResourceVersion = someVersion(meta.ResourceVersion)
	}
	beta := utilfeature.DefaultFeatureGate.Enabled(features.DeclarativeValidationBeta)
	return metavalidation.ValidateObjectMetaDeclaratively(w.ctx, op, meta, old, w.engine.namespaced, name, metadataPath, beta)
}

func metadataOf(u *unstructured.Unstructured) (*metav1.ObjectMeta, field.ErrorList) {
	meta := &metav1.ObjectMeta{}
	raw := u.Object["metadata"]
	if raw == nil {
		return meta, nil
	}
	m, ok := raw.(map[string]any)
	if !ok {
		return nil, field.ErrorList{field.Invalid(metadataPath, raw, fmt.Sprintf("expected map[string]interface{}, got %T", raw))}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, meta); err != nil {
		return nil, field.ErrorList{field.Invalid(metadataPath, raw, err.Error())}
	}
	return meta, nil
}

// commonMeta validates the metadata as the API server does for every resource.
func (w *write) commonMeta() field.ErrorList {
	errs := metavalidation.ValidateObjectMetaAccessor(w.obj, w.engine.namespaced, pathSegment, metadataPath)
	return append(errs, metavalidation.ValidateObjectMetaAccessorUpdate(versioned{w.obj}, w.old, metadataPath)...)
}

// versioned is an object whose metadata validation finds a resourceVersion. Validation requires it on update, but
// objects from files lack it, and apply does not send it.
type versioned struct{ metav1.Object }

func (v versioned) GetResourceVersion() string { return someVersion(v.Object.GetResourceVersion()) }

// someVersion returns version, or an arbitrary version if it is empty.
func someVersion(version string) string { return cmp.Or(version, "1") }

func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

func (w *write) scaleSpec() field.ErrorList {
	if w.version.scale == nil {
		return nil
	}
	return w.replicas(w.version.scale.SpecReplicasPath)
}

func (w *write) scaleStatus() field.ErrorList {
	s := w.version.scale
	if s == nil {
		return nil
	}
	errs := w.replicas(s.StatusReplicasPath)
	if s.LabelSelectorPath != nil {
		selector, _, err := unstructured.NestedString(w.obj.Object, scaleFields(*s.LabelSelectorPath)...)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*s.LabelSelectorPath), selector, err.Error()))
		}
	}
	return errs
}

func (w *write) replicas(path string) field.ErrorList {
	n, _, err := unstructured.NestedInt64(w.obj.Object, scaleFields(path)...)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(field.NewPath(path), n, err.Error())}
	case n < 0:
		return field.ErrorList{field.Invalid(field.NewPath(path), n, "should be a non-negative integer")}
	case n > math.MaxInt32:
		return field.ErrorList{field.Invalid(field.NewPath(path), n, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))}
	}
	return nil
}

func scaleFields(path string) []string {
	return strings.Split(strings.TrimPrefix(path, "."), ".")
}
