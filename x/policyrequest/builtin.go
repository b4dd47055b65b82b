package policyrequest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/secret"
)

// Builtins holds the built-in kinds with a resource. Their schemas describe the structure only, because
// the rest of their validation is code of the API server. It is safe for concurrent use.
type Builtins struct {
	once  sync.Once
	kinds map[schema.GroupVersionKind]*Builtin
	err   error
}

// A Builtin is a built-in kind with a resource.
type Builtin struct {
	builtin.Kind
	catalog *builtin.Catalog
	// schema is compiled when an object needs it.
	schema func() (*engine.Schema, error)
}

// Kind returns a built-in kind, or nil if gvk is unknown or has no resource. cfg configures the
// schemas. It must be equal in all calls.
func (b *Builtins) Kind(gvk schema.GroupVersionKind, cfg engine.Config) (*Builtin, error) {
	b.once.Do(func() {
		catalog, err := builtin.Newest()
		if err != nil {
			b.err = err
			return
		}
		b.kinds = map[schema.GroupVersionKind]*Builtin{}
		for _, k := range catalog.Kinds() {
			if k.Resource == "" {
				continue
			}
			b.kinds[k.GroupVersionKind] = &Builtin{k, catalog, sync.OnceValues(func() (*engine.Schema, error) {
				props, err := catalog.Schema(k.GroupVersionKind)
				if err != nil {
					return nil, err
				}
				props.XEmbeddedResource = true
				return engine.CompileSchema(props, cfg)
			})}
		}
	})
	return b.kinds[gvk], b.err
}

// IsBuiltin reports whether a kind is built in, in any version.
func IsBuiltin(kind schema.GroupKind) bool {
	catalog, err := builtin.Newest()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(catalog.Kinds(), func(k builtin.Kind) bool { return k.Resource != "" && k.GroupKind() == kind })
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

// Subject returns the subject of an object in the given forms.
func (k *Builtin) Subject(objects ...map[string]any) Subject {
	return Subject{Resource: k.GroupVersion().WithResource(k.Resource), Kind: k.GroupVersionKind, Secrets: secretData(k.GroupVersionKind, objects...)}
}

// Write validates the object of a request by its structure and sets its defaults. name is the name in
// messages. Of req, it uses the objects, FieldValidation, and DuplicateKeys. The error is the context's, a
// *engine.WorkLimitError, or an internal error.
func (k *Builtin) Write(ctx context.Context, req engine.Request, name string) (*engine.Result, error) {
	s, err := k.schema()
	if err != nil {
		return nil, err
	}
	seen, err := s.Validate(ctx, nil, k.catalog.Prepare(k.Kind, req.Object, req.OldObject), nil)
	if err != nil {
		return nil, err
	}
	res := &engine.Result{}
	if len(seen.Errors) > 0 {
		res.Failure = failure(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, fmt.Sprintf("%s %q is invalid: %v", k.Kind.Kind, name, seen.Errors.ToAggregate()))
		for _, e := range seen.Errors {
			res.Causes = append(res.Causes, engine.Cause{Type: e.Type, Reason: metav1.CauseType(e.Type), Field: e.Field, Message: e.ErrorBody(), Detail: e.Detail, Value: e.BadValue})
		}
		return res, nil
	}
	if req.FieldValidation != metav1.FieldValidationIgnore {
		res.Strict = strictErrors(req.DuplicateKeys, seen.Unknown)
	}
	if len(res.Strict) > 0 && req.FieldValidation == metav1.FieldValidationStrict {
		texts := make([]string, len(res.Strict))
		for i, e := range res.Strict {
			texts[i] = e.Message
		}
		message := fmt.Sprintf("%s in version %q cannot be handled as a %[1]s: strict decoding error: %[3]s", k.Kind.Kind, k.Version, strings.Join(texts, ", "))
		res.Failure = failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, message)
		return res, nil
	}
	for _, e := range res.Strict {
		res.Warnings = append(res.Warnings, e.Warnings()...)
	}
	res.Allowed = true
	res.Object, _ = seen.Value.(map[string]any)
	res.Object = builtin.SetConditionalDefaults(k.GroupKind(), res.Object)
	builtin.SetGeneration(k.GroupKind(), res.Object, req.OldObject)
	return res, nil
}

// strictErrors returns the errors of strict decoding. duplicate may be nil.
func strictErrors(duplicate error, unknown []string) (errs []engine.StrictError) {
	if duplicate != nil {
		errs = append(errs, engine.StrictError{Message: duplicate.Error(), Duplicate: true})
	}
	for _, field := range unknown {
		errs = append(errs, engine.StrictError{Field: field, Message: fmt.Sprintf("unknown field %q", field)})
	}
	return errs
}

func failure(code int32, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}
}

// secretData returns the texts in the data of a Secret in several forms.
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
