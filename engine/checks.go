package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
	"github.com/celadon-cel/celadon/engine/x/schema"
)

func (w *write) checkCreate() {
	values, plain := w.version.values, w.plainMetadata()
	errs := w.typeMeta()
	if len(errs) == 0 {
		if !plain {
			errs = append(errs, w.newMeta()...)
		}
		errs = append(errs, w.decided(values.Validate(nil, w.obj.Object))...)
		errs = append(errs, w.scaleSpec()...)
		errs = append(errs, w.scaleStatus()...)
	}
	if values.Embedded() {
		errs = append(errs, values.ValidateEmbedded(nil, w.obj.Object)...)
	}
	errs = append(errs, values.ListTypes(nil, w.obj.Object)...)
	w.fail(errs)
	w.rules(errs)
	if !w.rejected() && !plain {
		w.fail(w.engine.server.metadata().Create(w.obj, w.engine.info.Namespaced, metadata.PathSegment, metadataPath))
	}
}

// For a status update, the API server validates only the status against the schema.
func (w *write) checkUpdate() {
	values, plain := w.version.values, w.plainMetadata() && w.unchangedMetadata()
	whole := w.req.Subresource != "status"
	if !plain {
		w.fail(w.commonMeta())
	}
	errs := w.typeMeta()
	if len(errs) == 0 {
		if !plain {
			errs = append(errs, w.updatedMeta()...)
		}
		if whole {
			errs = append(errs, w.changed(values, nil, w.obj.Object, w.old.Object)...)
			errs = append(errs, w.scaleSpec()...)
		} else {
			errs = append(errs, w.changedStatus()...)
		}
		errs = append(errs, w.scaleStatus()...)
	}
	if whole && values.Embedded() {
		errs = append(errs, values.ValidateEmbedded(nil, w.obj.Object)...)
	}
	errs = append(errs, w.listTypes()...)
	w.fail(errs)
	w.rules(errs)
}

func (w *write) changedStatus() field.ErrorList {
	status, ok := w.obj.Object["status"]
	if !ok || w.version.status == nil {
		return nil
	}
	var path *field.Path
	if w.engine.server.has(statusPaths) {
		path = field.NewPath("status")
	}
	return w.changed(w.version.status, path, status, w.old.Object["status"])
}

func (w *write) changed(s *schema.Schema, path *field.Path, v, old any) field.ErrorList {
	if !w.ratcheted() {
		return w.decided(s.Validate(path, v))
	}
	return w.decided(s.ValidateUpdate(path, v, old))
}

// The update was accepted, so the server ignored every error that a full validation finds.
func (w *write) unchanged() (ignored []finding) {
	if !w.ratcheted() {
		return nil
	}
	var errs field.ErrorList
	if w.req.Subresource != "status" {
		errs = w.version.values.Validate(nil, w.obj.Object)
	} else if status, ok := w.obj.Object["status"]; ok && w.version.status != nil {
		errs = w.version.status.Validate(field.NewPath("status"), status)
	}
	for _, err := range append(errs, w.version.values.ListTypes(nil, w.obj.Object)...) {
		if err.Origin != schema.WorkLimit {
			ignored = append(ignored, finding{err: err})
		}
	}
	return ignored
}

func (w *write) ratcheted() bool {
	if w.engine.info.Config.NoRatcheting {
		return false
	}
	return w.req.Subresource != "status" || w.engine.server.has(ratchetsStatus)
}

// decided moves the error of a schema that exceeds the work limit to w.unknown, because it makes the write undecided.
func (w *write) decided(errs field.ErrorList) field.ErrorList {
	if len(errs) != 1 || errs[0].Origin != schema.WorkLimit {
		return errs
	}
	w.unknown = &WorkLimitError{Rule: RuleRef{Version: w.version.name, Path: errs[0].Field}, Part: "schema", Reason: errs[0].Detail, field: errs[0].Field}
	return nil
}

// As in the API server, errors do not count if the old object already had some.
func (w *write) listTypes() field.ErrorList {
	errs := w.version.values.ListTypes(nil, w.obj.Object)
	if len(errs) > 0 && len(w.version.values.ListTypes(nil, w.old.Object)) > 0 {
		return nil
	}
	return errs
}

// plainMetadata does not compare the metadata with the old object's. A false result may be wrong.
func (w *write) plainMetadata() bool {
	meta, ok := w.obj.Object["metadata"].(map[string]any)
	return ok && plainMetadata(meta) && validMetadata(meta, w.engine.info.Namespaced)
}

// unchangedMetadata reports whether the old metadata is plain and the update keeps the fields that must not change. A
// false result may be wrong.
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

// Rules rely on the types and sizes that earlier checks establish.
func (w *write) rules(earlier field.ErrorList) {
	if w.version.rules().root == nil {
		return
	}
	if slices.ContainsFunc(earlier, w.engine.server.blocksRules) {
		w.findings = append(w.findings, finding{err: field.Invalid(nil, nil, rulesSkipped), kind: CauseRulesSkipped})
		return
	}
	var old any
	if w.old != nil {
		old = w.old.Object
	}
	defer w.completeMetadata()()
	run := w.version.rules().run(w.ctx, w.engine.info.Limits.PerObject, w.tally)
	run.warn, run.unratcheted = w.warnings.Add, !w.ratcheted()
	defer run.done()
	run.root(nil, w.obj.Object, old)
	w.bug = run.bug
	w.cost = run.cost
	if w.unknown == nil {
		w.unknown = run.unknown
	}
	w.findings = append(w.findings, run.findings...)
}

func (s server) blocksRules(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return err.Type == field.ErrorTypeNotSupported && s.has(enumsBlockRules)
}

func (w *write) typeMeta() field.ErrorList {
	var errs field.ErrorList
	if kind := w.obj.GetKind(); kind != w.engine.info.GroupKind.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, "must be "+w.engine.info.GroupKind.Kind))
	}
	want := w.version.apiVersion
	if apiVersion := w.obj.GetAPIVersion(); apiVersion != want {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), apiVersion, "must be "+want))
	}
	return errs
}

var metadataPath = field.NewPath("metadata")

func (w *write) newMeta() field.ErrorList {
	meta, errs := w.strategyMeta(w.obj)
	if len(errs) > 0 {
		return errs
	}
	check := w.engine.server.metadata()
	return check.Distinct(check.Create(meta, w.engine.info.Namespaced, metavalidation.NameIsDNSSubdomain, metadataPath))
}

func (w *write) updatedMeta() field.ErrorList {
	meta, errs := w.strategyMeta(w.obj)
	if len(errs) > 0 {
		return errs
	}
	old, errs := w.strategyMeta(w.old)
	if len(errs) > 0 {
		return errs
	}
	check := w.engine.server.metadata()
	return check.Distinct(check.Update(versioned{meta}, old, metadataPath))
}

func (w *write) strategyMeta(u *unstructured.Unstructured) (metav1.Object, field.ErrorList) {
	if !w.engine.server.has(decodedMetadata) {
		return u, nil
	}
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

// commonMeta checks the metadata again, as the API server does for every resource.
func (w *write) commonMeta() field.ErrorList {
	check := w.engine.server.metadata()
	errs := check.Create(w.obj, w.engine.info.Namespaced, metadata.PathSegment, metadataPath)
	return append(errs, check.Update(versioned{w.obj}, w.old, metadataPath)...)
}

// versioned always has a resourceVersion. Metadata validation requires it on update, but objects from files lack it,
// and apply does not send it.
type versioned struct{ metav1.Object }

func (v versioned) GetResourceVersion() string { return cmp.Or(v.Object.GetResourceVersion(), "1") }

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
