package requests

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: the search makes objects that fit the schema of a built-in kind, and servers reject most of them,
// because most of their validation is code. So such an object is laid over a small valid one, and rejected values are
// replaced or removed until the server accepts the object. Only accepted objects become requests.

// A decider validates writes and reads stored objects, as an *engine.Engine does.
type decider interface {
	Validate(ctx context.Context, req engine.Request) (*engine.Result, error)
	Convert(ctx context.Context, object map[string]any, version string) (map[string]any, error)
}

const (
	maxRepairs = 8       // attempts to make an object valid
	serverWork = 300_000 // of making a request
)

type builtinDecider struct {
	kind    *policyrequest.Builtin
	example map[string]any // that the server accepts
	turn    int            // selects among supported values
	// subresources take objects of the kind.
	subresources []string
	schema       *apiextensionsv1.JSONSchemaProps
}

var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

func newBuiltinDecider(kind *policyrequest.Builtin) (*builtinDecider, error) {
	catalog, err := builtin.Newest()
	if err != nil {
		return nil, err
	}
	schema, err := catalog.Schema(kind.GroupVersionKind)
	if err != nil {
		return nil, err
	}
	b := &builtinDecider{kind: kind, example: catalog.Example(kind.GroupVersionKind), schema: schema}
	for _, k := range catalog.Kinds() {
		if k.GroupVersionKind == kind.GroupVersionKind {
			b.subresources = ownSubresources(&k)
		}
	}
	return b, nil
}

func (b *builtinDecider) Validate(ctx context.Context, req engine.Request) (*engine.Result, error) {
	if b.kind.Kind.Kind == "Job" && req.OldObject == nil {
		req.Object = newJob(req.Object)
	}
	meta := object(req.Object, "metadata")
	w := policyrequest.Write{
		Object: req.Object, OldObject: req.OldObject, Subresource: req.Subresource,
		Namespace: b.kind.Namespace(text(meta, "namespace"), text(meta, "name")),
	}
	res, err := b.kind.Write(ctx, w)
	if err == nil && res.Allowed && req.Subresource == policyrequest.ScaleName {
		replicas := object(b.kind.Scaled(&w), "spec")["replicas"]
		res.Object = with(req.OldObject, "spec", with(object(req.OldObject, "spec"), "replicas", replicas))
	}
	return res, err
}

// newJob removes the selector and labels that a server generates from a Job, which may be stored: a server rejects
// them in new Jobs.
func newJob(job map[string]any) map[string]any {
	spec := object(job, "spec")
	if spec == nil || spec["manualSelector"] == true {
		return job
	}
	unlabeled := func(of map[string]any) map[string]any {
		labels := maps.Clone(object(object(of, "metadata"), "labels"))
		for _, name := range []string{"controller-uid", "job-name"} {
			delete(labels, name)
			delete(labels, "batch.kubernetes.io/"+name)
		}
		return with(of, "metadata", with(object(of, "metadata"), "labels", labels))
	}
	if template := object(spec, "template"); template != nil {
		spec = with(spec, "template", unlabeled(template))
	}
	return with(unlabeled(job), "spec", with(spec, "selector", nil))
}

// Convert returns an object as the server stores it, or an error if the server rejects it. Its status is updated after
// the create.
func (b *builtinDecider) Convert(ctx context.Context, given map[string]any, _ string) (stored map[string]any, err error) {
	for _, subresource := range b.writes(given) {
		req := engine.Request{Object: given, OldObject: stored, Subresource: subresource}
		res, err := b.Validate(ctx, req)
		if err == nil && !res.Allowed {
			err = errors.New(res.Failure.Message)
		}
		if err != nil {
			return nil, err
		}
		stored = res.Object
	}
	return stored, nil
}

// writes returns the subresources of the writes that store an object: a create, and an update of its status.
func (b *builtinDecider) writes(of map[string]any) []string {
	status := string(search.Status)
	if of[status] == nil || !slices.Contains(b.subresources, status) {
		return []string{""}
	}
	return []string{"", status}
}

// withBuiltin is with for a built-in kind. It repairs objects that the server rejects.
func (q *question) withBuiltin(ctx context.Context, operation policy.Operation, of, old map[string]any) (*policy.Request, error) {
	q.work.Spend(serverWork)
	switch operation {
	case policy.OperationDelete:
		stored := q.builtin.repairedStored(ctx, of)
		if stored == nil || !q.builtin.deletes(ctx, stored) {
			return nil, ctx.Err()
		}
		return q.request(operation, nil, stored), nil
	case policy.OperationCreate:
		if _, stored := q.builtin.repaired(ctx, engine.Request{Object: of}); stored != nil {
			return q.request(operation, stored, nil), nil
		}
		return nil, ctx.Err()
	}
	// Updates can change only a part of some objects. An object with the rest is created with it.
	if status := string(search.Status); q.subresource == status || q.subresource == "approval" {
		old = with(of, status, old[status])
	}
	for _, old := range []map[string]any{old, of} {
		before := q.builtin.repairedStored(ctx, old)
		if before == nil {
			continue
		}
		changed := renamed(of, before) // no update renames
		_, stored := q.builtin.repaired(ctx, engine.Request{Object: changed, OldObject: before, Subresource: q.subresource})
		if stored == nil || reflect.DeepEqual(stored, before) && !reflect.DeepEqual(old, of) {
			continue
		}
		req := q.request(operation, stored, before)
		req.Subresource = q.subresource
		return req, nil
	}
	return nil, ctx.Err()
}

// renamed returns an object with the name of another.
func renamed(of, other map[string]any) map[string]any {
	return with(of, "metadata", with(object(of, "metadata"), "name", text(object(other, "metadata"), "name")))
}

// deletes reports whether the server accepts the deletion of an object.
func (b *builtinDecider) deletes(ctx context.Context, stored map[string]any) bool {
	meta := object(stored, "metadata")
	namespace := b.kind.Namespace(text(meta, "namespace"), text(meta, "name"))
	res, err := b.kind.Write(ctx, policyrequest.Write{OldObject: stored, Namespace: namespace})
	return err == nil && res.Allowed
}

// repairedStored returns an object that is similar to the given one, as the server stores it, or nil.
func (b *builtinDecider) repairedStored(ctx context.Context, of map[string]any) (stored map[string]any) {
	for _, subresource := range b.writes(of) {
		_, next := b.repaired(ctx, engine.Request{Object: of, OldObject: stored, Subresource: subresource})
		if next == nil {
			break
		}
		stored = next
		of = renamed(of, stored)
	}
	return stored
}

func with(fields map[string]any, name string, value any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, fields)
	out[name] = value
	return out
}

// repaired returns an object that is similar to the object of w and that the server accepts, and the object that the
// server then stores. Both are nil if it finds no such object or w has no object.
func (b *builtinDecider) repaired(ctx context.Context, w engine.Request) (given, stored map[string]any) {
	if w.Object == nil {
		return nil, nil
	}
	if given, stored = b.repairedOver(ctx, b.example, w); stored == nil && w.OldObject != nil { // an update can change few fields of some kinds
		given, stored = b.repairedOver(ctx, w.OldObject, w)
	}
	return given, stored
}

// repairedOver takes the fields that the object lacks from base.
func (b *builtinDecider) repairedOver(ctx context.Context, base map[string]any, w engine.Request) (given, stored map[string]any) {
	object := runtime.DeepCopyJSON(w.Object)
	object["apiVersion"], object["kind"] = b.kind.GroupVersionKind.ToAPIVersionAndKind()
	for range maxRepairs {
		w.Object, _ = overlaid(runtime.DeepCopyJSONValue(base), runtime.DeepCopyJSONValue(object)).(map[string]any)
		b.identify(w.Object)
		res, err := b.Validate(ctx, w)
		switch {
		case err != nil:
			return nil, nil
		case res.Allowed:
			return w.Object, res.Object
		}
		changed := false
		for _, cause := range res.Causes {
			changed = b.change(object, cause) || changed
		}
		if !changed {
			return nil, nil
		}
	}
	return nil, nil
}

// identify makes the name of a CustomResourceDefinition and the group and plural in it equal. If the group is that of
// the example, the name is not.
func (b *builtinDecider) identify(definition map[string]any) {
	spec, meta := object(definition, "spec"), object(definition, "metadata")
	names := object(spec, "names")
	if b.kind.Kind.Kind != "CustomResourceDefinition" || names == nil {
		return
	}
	plural, group, ok := strings.Cut(text(meta, "name"), ".")
	if ok && text(spec, "group") == text(object(b.example, "spec"), "group") {
		names = with(names, "plural", plural)
		definition["spec"] = with(with(spec, "group", group), "names", names)
		return
	}
	definition["metadata"] = with(meta, "name", text(names, "plural")+"."+text(spec, "group"))
}

// overlaid adds the fields of base that value lacks. It modifies value, and the result shares memory with base.
func overlaid(base, value any) any {
	switch v := value.(type) {
	case map[string]any:
		under, _ := base.(map[string]any)
		for name, item := range under {
			if v[name] == nil {
				v[name] = item
			} else {
				v[name] = overlaid(item, v[name])
			}
		}
	case []any:
		under, _ := base.([]any)
		for i := range v {
			if len(under) > 0 {
				v[i] = overlaid(runtime.DeepCopyJSONValue(under[0]), v[i])
			}
		}
		if len(v) == 0 && len(under) > 0 {
			return under
		}
	}
	return value
}

// change replaces or removes the rejected value of an object, or removes a value above it. It reports whether it
// changed the object.
func (b *builtinDecider) change(object map[string]any, cause engine.Cause) bool {
	steps, err := engine.ParsePath(cause.Field)
	if err != nil {
		return false
	}
	var supported []string
	if cause.Type == field.ErrorTypeNotSupported {
		for _, quoted := range quotation.FindAllString(cause.Detail, -1) {
			if text, err := strconv.Unquote(quoted); err == nil {
				supported = append(supported, text)
			}
		}
	}
	var at any = object
	drop := func() bool { return false }
	for i, step := range steps {
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[step.Name]
			isEmpty := !ok || next == "" || next == int64(0)
			text, isText := next.(string)
			if i == len(steps)-1 && len(supported) > 0 && (isText || isEmpty) {
				v[step.Name] = supported[b.turn%len(supported)]
				b.turn++
				return true
			}
			if i == len(steps)-1 && (cause.Type == field.ErrorTypeRequired || cause.Type == field.ErrorTypeInvalid) {
				typeName := b.typeOf(steps)
				if value := required[typeName]; isEmpty && value != nil {
					v[step.Name] = value
					return true
				}
				if typeName == "boolean" {
					v[step.Name] = next != true
					return true
				}
			}
			if !ok || i == 0 && (step.Name == "apiVersion" || step.Name == "kind") {
				return drop()
			}
			drop = func() bool { delete(v, step.Name); return true }
			if isText && i == len(steps)-1 {
				switch {
				case cause.Type == field.ErrorTypeInvalid && slices.Contains(requiredTexts[:len(requiredTexts)-1], text):
					v[step.Name] = requiredTexts[slices.Index(requiredTexts, text)+1]
					return true
				case cause.Type == field.ErrorTypeDuplicate:
					v[step.Name] = text + "-2"
					return true
				}
			}
			at = next
		case []any:
			if !step.Item || step.Index >= len(v) {
				return drop()
			}
			at = v[step.Index] // drop removes the whole list, or later a field of the item
		default:
			return drop()
		}
	}
	return drop()
}

// requiredText is the value of a required string that an object lacks. If it is invalid, the others of requiredTexts
// are tried: an IP address, a CIDR, and a qualified name.
const requiredText = "example"

var requiredTexts = []string{requiredText, "192.0.2.1", "192.0.2.0/24", "example.com/x"}

// required holds, by type, the values that an object gets if a required value is missing or an empty value is invalid.
var required = map[string]any{"string": requiredText, "integer": int64(1)}

func (b *builtinDecider) typeOf(steps []engine.Step) string {
	at := b.schema
	for _, step := range steps {
		var next *apiextensionsv1.JSONSchemaProps
		switch property, ok := at.Properties[step.Name]; {
		case step.Item && at.Items != nil:
			next = at.Items.Schema
		case ok:
			next = &property
		}
		if next == nil {
			return ""
		}
		at = next
	}
	return at.Type
}
