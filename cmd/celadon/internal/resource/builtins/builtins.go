// Package builtins connects package builtin to the commands that validate objects. It links most of kube-apiserver,
// so the playground does without it.
package builtins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/klog/v2"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Server implements policyrequest.Server.
type Server struct {
	// cluster makes its cluster once; with makes a new one, with more objects, at each call.
	cluster func() (*builtin.Cluster, error)
	with    func(ctx context.Context, objects []map[string]any) (*builtin.Cluster, error)
}

// New returns a Server with the named admission plugins and the objects that these read. The first write calls
// objects. New discards the logs of the API server's code for the whole process.
func New(plugins []string, objects func() ([]map[string]any, error)) Server {
	discardLogs()
	given := sync.OnceValues(objects)
	with := func(ctx context.Context, more []map[string]any) (*builtin.Cluster, error) {
		known, err := given()
		if err != nil {
			return nil, err
		}
		return builtin.NewCluster(ctx, plugins, slices.Concat(known, more))
	}
	return Server{sync.OnceValues(func() (*builtin.Cluster, error) { return with(context.Background(), nil) }), with}
}

// Alone returns a Server with the admission plugins of a new cluster, and without objects that these read.
func Alone() Server {
	return New(builtin.Plugins(true), func() ([]map[string]any, error) { return nil, nil })
}

// KindOf returns the kind of a built-in resource, or "".
func KindOf(resource schema.GroupResource) string {
	for _, r := range builtin.Resources() {
		if r.Group == resource.Group && r.Name == resource.Resource {
			return r.Kind
		}
	}
	return ""
}

// Nearest returns the built-in resource of a group that was probably meant by a name, or "". It returns "" for the
// name of a resource.
func Nearest(group, name string) string {
	var names []string
	for _, r := range builtin.Resources() {
		if r.Group == group {
			names = append(names, r.Name)
		}
	}
	if slices.Contains(names, name) {
		return ""
	}
	return spell.Nearest(name, names)
}

// CheckPlugins returns an error if a name is not an admission plugin that a Server can have.
func CheckPlugins(names []string) error {
	known := builtin.Plugins(false)
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		if hint := spell.DidYouMean(name, known); hint != "" {
			return fmt.Errorf("%q: no such plugin%s", name, hint)
		}
		return fmt.Errorf("%q: no such plugin, or it needs a cluster: want some of %s", name, strings.Join(known, ", "))
	}
	return nil
}

// Read reports whether admission plugins read objects of id's kind.
func Read(id input.Identity) bool {
	return builtin.Read(schema.FromAPIVersionAndKind(id.APIVersion, id.Kind))
}

func isRead(object map[string]any) bool { return Read(input.Identify(object)) }

var discardLogs = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// Resource implements policyrequest.Server.
func (Server) Resource(kind schema.GroupVersionKind) (policyrequest.Resource, bool) {
	r := builtin.Lookup(kind)
	if r == nil {
		return policyrequest.Resource{}, false
	}
	others := func() []policy.Equivalent { return equivalents(r) }
	return policyrequest.Resource{Name: r.Name, Namespaced: r.Namespaced(), Type: r.Type, Equivalents: others}, true
}

// equivalents returns other stable versions of a resource: clusters do not serve alpha and beta versions by default.
func equivalents(r *builtin.Resource) (list []policy.Equivalent) {
	converter := func(to schema.GroupVersionKind) func(map[string]any) (map[string]any, error) {
		return func(object map[string]any) (map[string]any, error) { return builtin.Convert(object, to) }
	}
	for _, other := range builtin.Resources() {
		same := other.Name == r.Name && (other.Group == r.Group || r.Kind == "Event") && other != r
		if same && !strings.Contains(other.Version, "alpha") && !strings.Contains(other.Version, "beta") {
			list = append(list, policy.Equivalent{
				Resource: other.GroupVersion().WithResource(other.Name), Kind: other.GroupVersionKind,
				Convert: converter(other.GroupVersionKind), Revert: converter(r.GroupVersionKind),
			})
		}
	}
	return list
}

// Absent implements policyrequest.Server.
func (Server) Absent(kind schema.GroupVersionKind, minor int) *policyrequest.Absence {
	a := builtin.Absent(kind, minor)
	switch {
	case a == nil:
		return nil
	case a.Introduced > 0:
		return &policyrequest.Absence{Field: "apiVersion", Hint: fmt.Sprintf("; it needs Kubernetes 1.%d", a.Introduced)}
	case a.Removed > 0:
		hint := fmt.Sprintf("; removed in Kubernetes 1.%d", a.Removed)
		if next := a.Replacement; !next.Empty() {
			hint += ": use " + next.GroupVersion().String()
			if next.Kind != kind.Kind {
				hint += " " + next.Kind
			}
		}
		return &policyrequest.Absence{Field: "apiVersion", Hint: hint}
	case len(a.Served) > 0:
		versions := make([]string, len(a.Served))
		for i, served := range a.Served {
			versions[i] = served.GroupVersion().String()
		}
		return &policyrequest.Absence{Field: "apiVersion", Hint: "; did you mean " + strings.Join(versions, " or ") + "?"}
	}
	var kinds []string
	for _, r := range builtin.Resources() {
		if r.GroupVersion() == kind.GroupVersion() {
			kinds = append(kinds, r.Kind)
		}
	}
	return &policyrequest.Absence{Field: "kind", Hint: spell.DidYouMean(kind.Kind, kinds)}
}

// Write implements policyrequest.Server.
func (s Server) Write(ctx context.Context, w policyrequest.Write) (*engine.Result, error) {
	req := builtin.Request{
		Assume: w.Assume, NoObject: w.NoObject, KubeMinor: w.KubeMinor,
		Kind: w.Kind, Object: w.Object, Raw: w.Raw, OldObject: w.OldObject, DuplicateKeys: w.DuplicateKeys,
		Namespace: w.Namespace, Subresource: w.Subresource, FieldValidation: w.FieldValidation, Apply: w.Apply,
	}
	if w.User.Name != "" {
		req.User = &user.DefaultInfo{Name: w.User.Name, UID: w.User.UID, Groups: w.User.Groups, Extra: w.User.Extra}
	}
	var in *admission
	if w.Admission != nil {
		in = &admission{policies: w.Admission}
		req.Admission = in
	}
	var res *engine.Result
	var err error
	if slices.ContainsFunc(w.Objects, isRead) {
		req.Cluster, err = s.with(ctx, w.Objects)
	} else {
		req.Cluster, err = s.cluster()
	}
	if err == nil {
		res, err = builtin.Validate(ctx, req)
	}
	if in != nil && in.ended && res != nil {
		res = &engine.Result{Warnings: res.Warnings}
	}
	return res, Limited(err)
}

// Limited returns the error for an object that exceeds a limit as a *engine.WorkLimitError, and others unchanged.
func Limited(err error) error {
	if limit := new(builtin.LimitError); errors.As(err, &limit) {
		return &engine.WorkLimitError{Part: "schema", Reason: limit.Reason}
	}
	return err
}

// Row implements policyrequest.Server.
func (Server) Row(ctx context.Context, object map[string]any) (columns []string, cells []any, err error) {
	return builtin.Row(ctx, object)
}

// FieldIntroduced implements policyrequest.Server.
func (Server) FieldIntroduced(kind schema.GroupVersionKind, field string) int {
	return builtin.FieldIntroduced(kind, field)
}

// SetDefaults implements policyrequest.Server.
func (Server) SetDefaults(kind schema.GroupVersionKind, object map[string]any) {
	builtin.SetDefaults(kind, object)
}

type admission struct {
	policies policyrequest.Admission
	ended    bool
}

var errEnded = apierrors.NewBadRequest("the policies end the request")

func (a *admission) Mutate(ctx context.Context, r builtin.Review, plugins builtin.PluginsAgain) (map[string]any, error) {
	var rejected error
	changed, ok := a.policies.Mutate(ctx, r.Object, r.OldObject, func(object map[string]any) (changed map[string]any, ok bool) {
		changed, rejected = plugins(object)
		return changed, rejected == nil
	})
	if rejected != nil {
		return nil, rejected
	}
	return changed, a.end(ok)
}

func (a *admission) Validate(ctx context.Context, r builtin.Review) error {
	return a.end(a.policies.Validate(ctx, r.Object, r.OldObject))
}

func (a *admission) end(ok bool) error {
	if ok {
		return nil
	}
	a.ended = true
	return errEnded
}
