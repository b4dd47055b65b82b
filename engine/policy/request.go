package policy

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An Operation is the operation of a request.
type Operation string

// The operations that policies can match.
const (
	OperationCreate  Operation = "CREATE"
	OperationUpdate  Operation = "UPDATE"
	OperationDelete  Operation = "DELETE"
	OperationConnect Operation = "CONNECT"
)

// A Request is a request to the API server after authorization and decoding, and for Evaluate after mutation.
// Objects are decoded JSON with numbers of type int64 and float64, as engine.Decode returns them. They are
// never modified.
type Request struct {
	Operation Operation
	// Resource and Subresource are from the URL.
	Resource    schema.GroupVersionResource
	Subresource string
	// Kind is the kind of Object. For a subresource it can differ from the resource's kind.
	Kind schema.GroupVersionKind
	// Name is the name of the object. While the server runs validating policies, a generated name
	// exists already: see SetServerFields. Namespace is empty for resources that are not namespaced,
	// except Namespaces, where it is the name of the Namespace, or empty if that is generated.
	Name, Namespace string
	// User is the user who sends the request.
	User User
	// DryRun is set if the request is not persisted.
	DryRun bool
	// Options is the CreateOptions, UpdateOptions, or DeleteOptions. If it is nil, options are assumed that have no
	// fields other than dryRun, or null for OperationConnect.
	Options map[string]any
	// Object is nil for OperationDelete, and OldObject is nil for OperationCreate and OperationConnect.
	Object, OldObject map[string]any
	// NamespaceObject is the Namespace of a namespaced resource. If it is nil, the Namespace among
	// the documents is used.
	NamespaceObject map[string]any
	// Schema describes how ApplyConfiguration patches merge with objects of Kind. Only Mutate uses it. If it
	// is nil, mutations that need it are undecided.
	Schema *MergeSchema
	// Default sets the defaults of an object of Kind, which it modifies. Mutate calls it after each successful
	// mutation. If it is nil, the object has no defaults.
	Default func(object map[string]any)
	// Between, if not nil, is called after the first pass if a mutation succeeded. It returns the object as the
	// server's other admission plugins change it, or nil if they do not. If ok is false, Mutate ends without a
	// Failure.
	Between func(object map[string]any) (changed map[string]any, ok bool)
	// Equivalents lists the same resource in other groups and versions, for policies with
	// matchPolicy: Equivalent.
	Equivalents []Equivalent
}

// User describes the user of a request.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// An Equivalent is a group and version in which the server also serves the requested resource.
type Equivalent struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
	// Convert returns an object in this version. It must not modify the object. If it is nil, only
	// apiVersion differs.
	Convert func(object map[string]any) (map[string]any, error)
	// Revert converts an object back to the version of the request, like Convert. Only Mutate uses it.
	Revert func(object map[string]any) (map[string]any, error)
	// Schema and Default are as in Request, for this version.
	Schema  *MergeSchema
	Default func(object map[string]any)
}

func (req *Request) check() error {
	switch req.Operation {
	case OperationCreate, OperationUpdate, OperationDelete, OperationConnect:
	default:
		return fmt.Errorf("operation %q: want CREATE, UPDATE, DELETE, or CONNECT", req.Operation)
	}
	switch {
	case req.Resource.Resource == "" || req.Resource.Version == "":
		return errors.New("the request has no resource: set the group, version, and plural name")
	case req.Kind.Kind == "" || req.Kind.Version == "":
		return errors.New("the request has no kind: set the group, version, and kind of the object")
	}
	return nil
}

func (req *Request) version(e *Equivalent) *Equivalent {
	if e == nil {
		e = &Equivalent{Resource: req.Resource, Kind: req.Kind, Schema: req.Schema, Default: req.Default}
	}
	return e
}

// value returns the value of request in expressions. resource and kind are as the policy matches them.
func (req *Request) value(resource schema.GroupVersionResource, kind schema.GroupVersionKind) map[string]any {
	user := map[string]any{}
	setText(user, "username", req.User.Name)
	setText(user, "uid", req.User.UID)
	if len(req.User.Groups) > 0 {
		user["groups"] = anyList(req.User.Groups)
	}
	if len(req.User.Extra) > 0 {
		extra := make(map[string]any, len(req.User.Extra))
		for k, values := range req.User.Extra {
			extra[k] = anyList(values)
		}
		user["extra"] = extra
	}
	value := map[string]any{
		"uid":             "",
		"kind":            kindValue(kind),
		"resource":        resourceValue(resource),
		"requestKind":     kindValue(req.Kind),
		"requestResource": resourceValue(req.Resource),
		"operation":       string(req.Operation),
		"userInfo":        user,
		"object":          nil,
		"oldObject":       nil,
		"dryRun":          req.DryRun,
		"options":         req.options(),
	}
	setText(value, "subResource", req.Subresource)
	setText(value, "requestSubResource", req.Subresource)
	setText(value, "name", req.Name)
	setText(value, "namespace", req.Namespace)
	return value
}

func (req *Request) options() any {
	if req.Options != nil {
		return req.Options
	}
	kinds := map[Operation]string{OperationCreate: "CreateOptions", OperationUpdate: "UpdateOptions", OperationDelete: "DeleteOptions"}
	kind := kinds[req.Operation]
	if kind == "" {
		return nil
	}
	options := map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": kind}
	if req.DryRun {
		options["dryRun"] = []any{"All"}
	}
	return options
}

func setText(in map[string]any, field, text string) {
	if text != "" {
		in[field] = text
	}
}

func anyList(texts []string) any {
	if texts == nil {
		return nil
	}
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

func kindValue(k schema.GroupVersionKind) map[string]any {
	return map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}
}

func resourceValue(r schema.GroupVersionResource) map[string]any {
	return map[string]any{"group": r.Group, "version": r.Version, "resource": r.Resource}
}
