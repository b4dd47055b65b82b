package verdict

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/secret"
)

// builtins holds the built-in kinds of the objects of a run. Their schemas describe the structure
// only, because the rest of their validation is code of the API server.
type builtins struct {
	once  sync.Once
	kinds map[schema.GroupVersionKind]*builtinKind
}

type builtinKind struct {
	builtin.Kind
	// schema is compiled when an object needs it, and mergeable when a mutating policy does.
	schema    func() (*engine.Schema, error)
	mergeable func() mergeable
}

// kind returns a built-in kind that has a resource, or nil if there is none.
func (b *builtins) kind(gvk schema.GroupVersionKind, cfg engine.Config) (*builtinKind, error) {
	catalog, err := builtin.Newest()
	if err != nil {
		return nil, err
	}
	b.once.Do(func() {
		b.kinds = map[schema.GroupVersionKind]*builtinKind{}
		for _, k := range catalog.Kinds() {
			if k.Resource == "" {
				continue
			}
			b.kinds[k.GroupVersionKind] = &builtinKind{k, sync.OnceValues(func() (*engine.Schema, error) {
				props, err := catalog.Schema(k.GroupVersionKind)
				if err != nil {
					return nil, err
				}
				props.XEmbeddedResource = true
				return engine.CompileSchema(props, cfg)
			}), sync.OnceValue(func() mergeable {
				props, err := catalog.Schema(k.GroupVersionKind)
				if err != nil {
					return newMergeable(nil)
				}
				return newMergeable(props)
			})}
		}
	})
	return b.kinds[gvk], nil
}

// decideBuiltin decides an object of a built-in kind by its structure and the policies. It reports
// whether the object's kind is built in.
func (c *Decider) decideBuiltin(ctx context.Context, doc *input.Document, rep *finding.Object) bool {
	gvk := schema.FromAPIVersionAndKind(rep.APIVersion, rep.Kind)
	kind, err := c.builtins.kind(gvk, engine.Config{KubeVersion: c.KubeVersion})
	if err == nil && kind == nil {
		return false
	}
	rep.StructureOnly = true
	if err != nil {
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return true
	}
	switch {
	case gvk.GroupKind() == schema.GroupKind{Kind: "Namespace"}:
		rep.Namespace = rep.Name // as in requests for Namespaces
	case kind.Namespaced && rep.Namespace == "":
		rep.Namespace = metav1.NamespaceDefault
	}
	old := c.old(doc, rep.Identity)
	to := subject{kind: gvk, resource: gvk.GroupVersion().WithResource(kind.Resource), secrets: secretData(gvk, doc.Object, old)}
	switch {
	case c.Admission.operation() == Delete:
		rep.Operation, rep.Verdict = Delete, finding.Valid
		if old == nil {
			old = doc.Object
		}
		c.admit(ctx, to, nil, old, rep)
		return true
	case old != nil:
		rep.Operation = Update
	default:
		rep.Operation = Create
	}
	object := c.structured(ctx, kind, doc, rep)
	if object != nil && c.Admission.Policies.Mutates() {
		to.mergeable = kind.mergeable()
		object, _, _ = c.mutated(ctx, to, object, old, rep)
	}
	if object != nil {
		c.admit(ctx, to, object, old, rep)
	}
	return true
}

// structured returns an object of a built-in kind with defaults. If the object is rejected, it
// records the reason in rep and returns nil.
func (c *Decider) structured(ctx context.Context, kind *builtinKind, doc *input.Document, rep *finding.Object) map[string]any {
	s, err := kind.schema()
	if err != nil {
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return nil
	}
	res, err := s.Validate(ctx, nil, maps.Clone(doc.Object), nil)
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &rep.Limit):
		rep.Verdict, rep.Problem = finding.Undecided, err.Error()
		return nil
	case err != nil:
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return nil
	}
	rep.Verdict = finding.Valid
	switch {
	case len(res.Errors) > 0:
		rep.Verdict = finding.Invalid
		message := fmt.Sprintf("%s %q is invalid: %v", kind.Kind.Kind, rep.Name, res.Errors.ToAggregate())
		rep.Status = &finding.Status{Code: http.StatusUnprocessableEntity, Reason: string(metav1.StatusReasonInvalid), Message: message}
		for _, e := range res.Errors {
			rep.Causes = append(rep.Causes, finding.Cause{Reason: string(e.Type), Field: e.Field, Message: e.ErrorBody()})
		}
		c.locateBuiltin(doc, rep)
		return nil
	case len(res.Unknown) > 0 && c.Validation == "Strict":
		rep.Verdict = finding.Invalid
		unknown := make([]string, len(res.Unknown))
		for i, field := range res.Unknown {
			unknown[i] = fmt.Sprintf("unknown field %q", field)
		}
		message := fmt.Sprintf("%s in version %q cannot be handled as a %[1]s: strict decoding error: %[3]s", kind.Kind.Kind, kind.Version, strings.Join(unknown, ", "))
		rep.Status = &finding.Status{Code: http.StatusBadRequest, Reason: string(metav1.StatusReasonBadRequest), Message: message}
		return nil
	case c.Validation == "Warn":
		for _, field := range res.Unknown {
			rep.Warnings = append(rep.Warnings, fmt.Sprintf("unknown field %q", field))
		}
	}
	object, _ := res.Value.(map[string]any)
	return object
}

// locateBuiltin adds the positions of causes, without excerpts, because the schemas of built-in kinds
// do not mark secrets.
func (c *Decider) locateBuiltin(doc *input.Document, rep *finding.Object) {
	if !c.Locate {
		return
	}
	fields := make([]string, len(rep.Causes))
	for i := range rep.Causes {
		fields[i] = rep.Causes[i].Field
	}
	for i, at := range doc.Locate(fields) {
		if at.Line > 0 {
			rep.Causes[i].File, rep.Causes[i].Line, rep.Causes[i].Column = doc.File, at.Line, at.Column
		}
	}
}

// secretData returns the texts in the data of a Secret and its old version.
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
