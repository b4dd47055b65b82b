package policyrequest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/secret"
)

// Builtins provides the built-in kinds with a resource. Without a Server, only their structure is
// known, because the rest of their validation is code of the API server. It is safe for concurrent
// use.
type Builtins struct {
	Server Server

	kinds      sync.Map // map[schema.GroupVersionKind]*Builtin
	mergeables sync.Map // map[schema.GroupVersionKind]*Mergeable
}

// A Server validates writes of built-in kinds as an API server does. Command celadon implements it
// with package builtin.
type Server interface {
	// Resource describes a kind. ok is false for a kind that the server does not serve.
	Resource(kind schema.GroupVersionKind) (r Resource, ok bool)
	// Absent returns why servers of Kubernetes 1.minor do not serve a kind of a built-in group, or
	// nil if they serve it.
	Absent(kind schema.GroupVersionKind, minor int) *Absence
	// Write validates a write of a kind that the Server serves, like Builtin.Write.
	Write(ctx context.Context, w Write) (*engine.Result, error)
	// Row returns an object as a row of kubectl get -o wide: the names of the columns after the name, and their cells.
	Row(ctx context.Context, object map[string]any) (columns []string, cells []any, err error)
	// FieldIntroduced returns the first minor whose servers have a field of a kind, or 0 if all
	// have it or that is not known.
	FieldIntroduced(kind schema.GroupVersionKind, field string) (minor int)
	// SetDefaults sets the defaults of an object of a kind that the Server serves. It modifies the
	// object.
	SetDefaults(kind schema.GroupVersionKind, object map[string]any)
}

// A Resource describes a kind of a Server.
type Resource struct {
	Name       string // the plural name in URLs
	Namespaced bool
	Type       reflect.Type // the Go type of the objects
	// Equivalents, if not nil, returns the other versions in which clusters serve the resource by default, without Schema
	// and Default.
	Equivalents func() []policy.Equivalent
}

// An Absence explains that a server does not serve a kind.
type Absence struct {
	Field string // apiVersion or kind, whichever is wrong
	Hint  string // for the end of a message, or ""
}

// A Write is one write of an object of a built-in kind.
type Write struct {
	Kind schema.GroupVersionKind
	// Object is the object in the form of engine.Decode, and Raw its JSON or nil. OldObject is nil
	// for a create, and Object for a deletion. For the subresource scale, Object is a Scale or has the replicas.
	Object, OldObject map[string]any
	Raw               []byte
	// DuplicateKeys is the error of the YAML decoder about duplicate keys, or nil.
	DuplicateKeys error
	// Name is the name of the object in messages without a Server. Namespace is the namespace of
	// the request.
	Name, Namespace, Subresource, FieldValidation string
	User                                          policy.User
	// Apply describes how OldObject is written; its zero value replaces it. Only a Server uses it.
	Apply apply.Write
	// KubeMinor is the minor of Kubernetes whose fields the object can have, or 0 for the newest. Only a Server uses
	// it.
	KubeMinor int
	// Objects are objects that admission plugins of the server read in addition to its own. Objects
	// that no plugin reads are ignored.
	Objects []map[string]any
	// NoObject permits that the result has no Object.
	NoObject bool
	// Assume, if not nil, is called with each object, such as "PriorityClass high", that an admission plugin of the server
	// needs but that was not given. The plugin is then skipped.
	Assume func(object string)
	// Admission, if not nil, holds the policies.
	Admission Admission
}

// Admission holds the policies that take part in a write. It gets objects with defaults.
type Admission interface {
	// Mutate returns the object as policies change it, or nil if they do not change it. If ok is
	// false, the write ends. between is policy.Request.Between.
	Mutate(ctx context.Context, object, old map[string]any, between Between) (changed map[string]any, ok bool)
	// Validate reports whether the write goes on.
	Validate(ctx context.Context, object, old map[string]any) (ok bool)
}

// Between is the type of policy.Request.Between: it returns an object as the server's other admission
// plugins change it, or nil if they do not. If ok is false, the write ends.
type Between = func(object map[string]any) (changed map[string]any, ok bool)

// A Builtin is a built-in kind with a resource.
type Builtin struct {
	builtin.Kind
	// Type is the Go type of the objects, or nil without a Server that serves the kind.
	Type reflect.Type

	all         *Builtins
	server      Server
	equivalents func() []policy.Equivalent // can be nil
	// schema is compiled when an object needs it. It is nil if server is set.
	schema func() (*engine.Schema, error)
}

// Kind returns a built-in kind, or nil if gvk is unknown or has no resource. cfg configures the
// schemas. It must be equal in all calls.
func (b *Builtins) Kind(gvk schema.GroupVersionKind, cfg engine.Config) (*Builtin, error) {
	if known, ok := b.kinds.Load(gvk); ok {
		return known.(*Builtin), nil
	}
	catalog, err := builtin.Newest()
	if err != nil {
		return nil, err
	}
	k := b.newKind(catalog, gvk, cfg)
	if k == nil {
		return nil, nil
	}
	known, _ := b.kinds.LoadOrStore(gvk, k)
	return known.(*Builtin), nil
}

func (b *Builtins) newKind(catalog *builtin.Catalog, gvk schema.GroupVersionKind, cfg engine.Config) *Builtin {
	k := &Builtin{all: b}
	if b.Server != nil {
		if r, ok := b.Server.Resource(gvk); ok {
			k.Kind = builtin.Kind{GroupVersionKind: gvk, Resource: r.Name, Namespaced: r.Namespaced}
			if k.Type, k.server = r.Type, b.Server; r.Equivalents != nil {
				k.equivalents = sync.OnceValue(r.Equivalents)
			}
			return k
		}
	}
	kinds := catalog.Kinds()
	i := slices.IndexFunc(kinds, func(k builtin.Kind) bool { return k.GroupVersionKind == gvk && k.Resource != "" })
	if i < 0 {
		return nil
	}
	k.Kind = kinds[i]
	k.schema = sync.OnceValues(func() (*engine.Schema, error) {
		props, err := catalog.Schema(gvk)
		if err != nil {
			return nil, err
		}
		props.XEmbeddedResource = true
		return engine.CompileSchema(props, cfg)
	})
	return k
}

// mergeable returns a built-in kind for mutating policies. It need not have a resource.
func (b *Builtins) mergeable(gvk schema.GroupVersionKind) *Mergeable {
	if known, ok := b.mergeables.Load(gvk); ok {
		return known.(*Mergeable)
	}
	var props *apiextensionsv1.JSONSchemaProps
	if catalog, err := builtin.Newest(); err == nil {
		props, _ = catalog.Schema(gvk) // nil on an error
	}
	m := NewMergeable(props)
	if m.Schema = m.Schema.Strict(); b.Server != nil {
		m.Default = func(object map[string]any) { b.Server.SetDefaults(gvk, object) }
	}
	known, _ := b.mergeables.LoadOrStore(gvk, m)
	return known.(*Mergeable)
}

// Exact reports whether writes are validated as by an API server, rather than only by their
// structure.
func (k *Builtin) Exact() bool { return k.server != nil }

// IsBuiltin reports whether a kind, or the kind of the objects of a subresource, is built in, in any version.
func IsBuiltin(kind schema.GroupKind) bool {
	catalog, err := builtin.Newest()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(catalog.Kinds(), func(k builtin.Kind) bool {
		of := func(s builtin.Subresource) bool { return s.Kind.GroupKind() == kind }
		return k.Resource != "" && (k.GroupKind() == kind || slices.ContainsFunc(k.Subresources, of))
	})
}

// Namespace returns the namespace of requests for an object in the given namespace and with the given
// name.
func (k *Builtin) Namespace(namespace, name string) string {
	switch {
	case k.GroupKind() == schema.GroupKind{Kind: "Namespace"}:
		return name // as in requests for Namespaces
	case k.Namespaced && namespace == "":
		return metav1.NamespaceDefault
	}
	return namespace
}

// Subject returns the subject of an object. objects are its forms, such as the new and the old
// object, whose passwords must not be shown.
func (k *Builtin) Subject(objects ...map[string]any) Subject {
	to := Subject{
		Resource: k.GroupVersion().WithResource(k.Resource), Kind: k.GroupVersionKind, Secrets: secretData(k.GroupVersionKind, objects...),
		mergeable: k.all.mergeable,
	}
	if k.equivalents != nil {
		to.Equivalents = slices.Clone(k.equivalents())
	}
	return to
}

// Write validates a write. If the policies end it, the result has only warnings. The error is the context's, a
// *engine.WorkLimitError, or an internal error.
func (k *Builtin) Write(ctx context.Context, w Write) (*engine.Result, error) {
	if w.Kind = k.GroupVersionKind; k.server != nil {
		if w.Subresource == ScaleName && w.OldObject != nil && w.Object != nil && w.Object["kind"] != scaleKind.Kind {
			w.Object, w.Raw, w.DuplicateKeys = k.Scaled(&w), nil, nil
		}
		return k.server.Write(ctx, w)
	}
	res, err := &engine.Result{Allowed: true}, error(nil)
	if w.Object != nil {
		res, err = k.structured(ctx, w)
	}
	if err != nil || !res.Allowed || w.Admission == nil {
		return res, err
	}
	changed, ok := w.Admission.Mutate(ctx, res.Object, w.OldObject, nil)
	if changed != nil {
		res.Object = changed
	}
	if !ok || !w.Admission.Validate(ctx, res.Object, w.OldObject) {
		return &engine.Result{Warnings: res.Warnings}, nil
	}
	return res, nil
}

// Scaled returns the Scale that kubectl scale would send for the replicas of the object of w.
func (k *Builtin) Scaled(w *Write) map[string]any {
	object := runtime.DeepCopyJSON(w.Object)
	k.server.SetDefaults(k.GroupVersionKind, object)
	replicas, _, _ := unstructured.NestedFieldNoCopy(object, "spec", "replicas")
	name := cmp.Or(w.Name, nameOf(object))
	return map[string]any{
		"apiVersion": scaleKind.GroupVersion().String(), "kind": scaleKind.Kind,
		"metadata": map[string]any{"name": name, "namespace": k.Namespace(w.Namespace, name)},
		"spec":     map[string]any{"replicas": replicas},
	}
}

func (k *Builtin) structured(ctx context.Context, req Write) (*engine.Result, error) {
	s, err := k.schema()
	if err != nil {
		return nil, err
	}
	seen, err := s.Validate(ctx, nil, req.Object, nil)
	if err != nil {
		return nil, err
	}
	res := &engine.Result{}
	if len(seen.Errors) > 0 {
		message := fmt.Sprintf("%s %q is invalid: %v", k.Kind.Kind, req.Name, seen.Errors.ToAggregate())
		const code, reason = http.StatusUnprocessableEntity, metav1.StatusReasonInvalid
		res.Failure = &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}
		for _, e := range seen.Errors {
			res.Causes = append(res.Causes, engine.Cause{
				Type: e.Type, Reason: metav1.CauseType(e.Type), Field: e.Field, Message: e.ErrorBody(), Detail: e.Detail, Value: e.BadValue,
			})
		}
		return res, nil
	}
	if req.FieldValidation != metav1.FieldValidationIgnore {
		if req.DuplicateKeys != nil {
			res.Strict = append(res.Strict, engine.StrictError{Message: req.DuplicateKeys.Error(), Duplicate: true})
		}
		for _, field := range seen.Unknown {
			res.Strict = append(res.Strict, engine.StrictError{Field: field, Message: fmt.Sprintf("unknown field %q", field)})
		}
	}
	if len(res.Strict) > 0 && req.FieldValidation == metav1.FieldValidationStrict {
		texts := make([]string, len(res.Strict))
		for i, e := range res.Strict {
			texts[i] = e.Message
		}
		const format = "%s in version %q cannot be handled as a %[1]s: strict decoding error: %[3]s"
		message := fmt.Sprintf(format, k.Kind.Kind, k.Version, strings.Join(texts, ", "))
		failure := apierrors.NewBadRequest(message).Status()
		res.Failure = &failure
		return res, nil
	}
	for _, e := range res.Strict {
		res.Warnings = append(res.Warnings, e.Warnings()...)
	}
	res.Allowed = true
	res.Object, _ = seen.Value.(map[string]any)
	return res, nil
}

func secretData(kind schema.GroupVersionKind, objects ...map[string]any) (texts secret.Texts) {
	if kind.GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return nil
	}
	for _, obj := range objects {
		for _, field := range []string{"data", "stringData"} {
			data, _ := obj[field].(map[string]any)
			for _, v := range data {
				if text, ok := v.(string); ok {
					texts = append(texts, text)
				}
			}
		}
	}
	return texts
}
