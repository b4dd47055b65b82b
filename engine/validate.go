package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/internal/respond"
)

// A NotCheckedError means that the engine cannot determine the server's verdict.
type NotCheckedError struct{ Reason string }

func (e *NotCheckedError) Error() string { return "not checked: " + e.Reason }

// Validate validates a write as the API server would and returns the result. A rejected object is not
// an error: see Result.Allowed, Result.Causes, and Result.Failure.
//
// Validate returns an error if ctx is done, if req is malformed, or on an internal error. It
// returns a *NotCheckedError, possibly wrapped, if only a conversion webhook could determine the
// result, and a *WorkLimitError if evaluation would exceed the work limit and nothing else rejects
// the object (otherwise, see Result.Undecided).
//
// It does not check authorization, quota, or resource conflicts. Selectable fields never cause a
// rejection. Validate is safe for concurrent use. It does not modify the request's objects;
// the result may share memory with them.
func (e *Engine) Validate(ctx context.Context, req Request) (res *Result, err error) {
	defer catch(&res, &err)
	w, err := e.newWrite(ctx, req)
	if err != nil {
		return nil, err
	}
	return w.decide()
}

func (w *write) decide() (*Result, error) {
	if err := w.prepare(); err != nil {
		return nil, err
	}
	if w.failure == nil {
		w.check()
	}
	if err := w.ctx.Err(); err != nil {
		return nil, fmt.Errorf("validation interrupted: %w", err)
	}
	switch {
	case w.bug != nil:
		return nil, w.bug
	case w.unknown != nil && !w.rejected():
		return nil, w.unknown
	}
	return w.result()
}

func (e *Engine) newWrite(ctx context.Context, req Request) (*write, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	return &write{engine: e, req: req, ctx: ctx, tally: req.tally()}, nil
}

func (r *Request) check() error {
	switch {
	case r.Object == nil && r.Raw == nil:
		return fmt.Errorf("request: no object: want Object or Raw")
	case r.Object != nil && r.Raw != nil:
		return fmt.Errorf("request: Object and Raw both given: want only one of them")
	case r.Subresource != "" && r.Subresource != "status" && r.Subresource != scaleSubresource:
		return fmt.Errorf("request: subresource %q: want \"\", \"status\" or \"scale\"", r.Subresource)
	case r.Subresource != "" && r.OldObject == nil:
		return fmt.Errorf("request: subresource %s: want an old object", r.Subresource)
	}
	switch r.fieldValidation() {
	case metav1.FieldValidationStrict, metav1.FieldValidationWarn, metav1.FieldValidationIgnore:
		return nil
	}
	return fmt.Errorf("request: field validation %q: want Strict, Warn or Ignore", r.FieldValidation)
}

type write struct {
	engine   *Engine
	req      Request
	ctx      context.Context
	warnings respond.Warnings
	strict   []StrictError
	tally    *tally

	version  *crdVersion
	obj, old *unstructured.Unstructured
	// kind is the kind of the object that was sent, which messages name. A status update keeps the kind of the old
	// object.
	kind runtimeschema.GroupKind
	// unmanaged is set if the server tracks no managers of the old object, and ownersChanged if an update changes
	// fields whose managers the server tracks.
	unmanaged     bool
	ownersChanged bool
	// unprepared is set if storage may add defaults that the object does not have yet.
	unprepared bool
	// The write is rejected if failure is set or if there are findings, but never both.
	failure  *metav1.Status
	unread   error // the decoding error that caused failure, or nil
	findings []finding
	cost     int64
	// bug is set if evaluating a rule met an internal error, and unknown if a rule or a schema exceeds the work limit.
	bug     *InternalError
	unknown *WorkLimitError
}

func (w *write) prepare() error {
	if w.req.Subresource == scaleSubresource {
		return w.prepareScale()
	}
	if err := w.receive(false); err != nil || w.failure != nil {
		return err
	}
	if w.req.OldObject == nil {
		w.create()
		return nil
	}
	return w.update()
}

// receive decodes the status also if whole is set.
func (w *write) receive(whole bool) error {
	obj, strict, failed, err := w.engine.received(&w.req, whole)
	if err != nil {
		return err
	}
	w.strict = strict
	if w.version = w.engine.endpoint(obj); w.version != nil {
		w.warnings.Add(w.version.deprecation)
	}
	if failed != nil {
		w.unreadable(failed)
		return nil
	}
	w.obj, w.unprepared = w.req.modifiable(obj), w.req.Merged
	if w.strictness() {
		return nil
	}
	if w.version == nil {
		w.failure = w.engine.wrongVersion(obj)
		return nil
	}
	if !w.checkIdentity() {
		w.dedupOwners()
	}
	return nil
}

func (w *write) check() {
	if w.old == nil {
		w.checkCreate()
	} else {
		w.checkUpdate()
	}
	if w.req.Subresource != "status" && !w.rejected() {
		w.engine.server.warnOfFinalizers(w.obj, w.old, &w.warnings)
	}
}

func (r *Request) modifiable(obj map[string]any) *unstructured.Unstructured {
	if r.Raw != nil { // obj is not shared
		return &unstructured.Unstructured{Object: obj}
	}
	return owned(obj, r.Object)
}

// The top-level fields and the metadata of the result may be modified; everything below is shared. given must not be
// modified. If obj is not the map given, it is already a copy.
func owned(obj, given map[string]any) *unstructured.Unstructured {
	if sameMapping(obj, given) {
		obj = maps.Clone(obj)
	}
	if meta, ok := obj["metadata"].(map[string]any); ok {
		obj["metadata"] = maps.Clone(meta)
	}
	return &unstructured.Unstructured{Object: obj}
}

func (w *write) strictness() (rejected bool) {
	if len(w.strict) == 0 {
		return false
	}
	errs := make([]error, len(w.strict))
	for i, err := range w.strict {
		errs[i] = err
	}
	if w.req.fieldValidation() == metav1.FieldValidationStrict {
		w.unreadable(w.engine.unreadable(w.obj.Object, runtime.NewStrictDecodingError(errs)))
		return true
	}
	w.warnStrict()
	return false
}

func (w *write) warnStrict() {
	for _, e := range w.strict {
		for _, text := range e.Warnings() {
			w.warnings.Add(text)
		}
	}
}

const (
	namespaceMismatch = "the namespace of the provided object does not match the namespace sent on the request"
	nameMismatch      = "the name of the object (%s) does not match the name on the URL (%s)"
)

func (w *write) checkIdentity() (rejected bool) {
	namespace := ""
	if w.engine.info.Namespaced {
		if namespace = w.req.Namespace; namespace == "" {
			namespace = w.obj.GetNamespace()
		}
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		if own := w.obj.GetNamespace(); own != "" && own != namespace {
			w.failure = respond.BadRequest(namespaceMismatch)
			return true
		}
	}
	if w.obj.GetNamespace() != namespace {
		w.obj.SetNamespace(namespace)
	}
	if name := w.req.Name; w.req.OldObject != nil && name != "" && name != w.obj.GetName() {
		w.failure = respond.BadRequest(nameMismatch, w.obj.GetName(), name)
		return true
	}
	return false
}

func (w *write) create() {
	fillCreate(w.obj)
	if w.version.hasStatus {
		delete(w.obj.Object, "status")
	}
}

func (w *write) update() error {
	if err := w.readOld(); err != nil || w.failure != nil {
		return err
	}
	if w.req.Subresource == "status" {
		return w.updateStatus()
	}
	w.replace()
	return nil
}

// readOld sets the old object to the form in which the server reads it.
func (w *write) readOld() error {
	old, err := w.engine.stored(w.ctx, w.req.OldObject, w.version)
	if err != nil {
		return w.unconverted(err)
	}
	w.old = owned(old, w.req.OldObject)
	w.unmanaged = unmanaged(w.req.OldObject, w.old)
	if hasMetadata(w.old, selfLink) { // servers do not store it
		w.old.SetSelfLink("")
	}
	if w.engine.info.Namespaced && w.old.GetNamespace() == "" {
		w.old.SetNamespace(w.obj.GetNamespace())
	}
	return nil
}

func (w *write) unreadable(u *decodeFailure) { w.failure, w.unread = u.status, u.why }

func (w *write) rejected() bool { return w.failure != nil || len(w.findings) > 0 }

func (w *write) fail(errs field.ErrorList) {
	for _, err := range errs {
		w.findings = append(w.findings, finding{err: err})
	}
}

func (w *write) result() (*Result, error) {
	res := &Result{Cost: w.cost, Warnings: w.warnings.Sent(), Strict: w.strict, Unread: w.unread, Rules: w.tally.results(), Undecided: w.unknown}
	if !w.rejected() {
		if hasMetadata(w.obj, selfLink) { // rules see it, but it is not stored
			w.obj.SetSelfLink("")
		}
		if w.req.Ratcheted && w.old != nil {
			res.Ratcheted = w.engine.server.causes(w.unchanged())
		}
		var err error
		if res.Object, res.Stored, err = w.engine.persisted(w.ctx, w.obj.Object, w.version, !w.unprepared); err == nil {
			res.Allowed = true
			return res, nil
		}
		if err = w.unconverted(err); err != nil {
			return nil, err
		}
		res.Object, res.Stored, res.Warnings = nil, nil, w.warnings.Sent()
	}
	if w.failure != nil {
		res.Failure = w.failure
		return res, nil
	}
	res.Causes = w.engine.server.causes(w.findings)
	if w.kind.Kind == "" {
		w.kind = w.obj.GroupVersionKind().GroupKind()
	}
	res.Failure = invalid(w.kind, w.obj.GetName(), res.Causes)
	res.Prepared = w.prepared()
	return res, nil
}

// unconverted returns err unless it is a rejected conversion, which rejects the write.
func (w *write) unconverted(err error) error {
	var rejected conversionError
	if !errors.As(err, &rejected) {
		return err
	}
	w.failure = unknownFailure(rejected)
	return nil
}
