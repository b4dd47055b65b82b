// Package builtins connects package builtin to the commands that decide objects. It links most of kube-apiserver, so the
// playground does without it.
package builtins

import (
	"context"
	"errors"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/klog/v2"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Server implements policyrequest.Server.
type Server struct{}

// New returns a Server. It discards the logs of the API server's code: everything that a user needs is in results.
func New() Server {
	discardLogs()
	return Server{}
}

var discardLogs = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// Resource implements policyrequest.Server.
func (Server) Resource(kind schema.GroupVersionKind) (policyrequest.Resource, bool) {
	r := builtin.Lookup(kind)
	if r == nil {
		return policyrequest.Resource{}, false
	}
	return policyrequest.Resource{Name: r.Name, Namespaced: r.Namespaced(), Type: r.Type}, true
}

// Write implements policyrequest.Server.
func (Server) Write(ctx context.Context, w policyrequest.Write) (*engine.Result, error) {
	req := builtin.Request{
		Kind: w.Kind, Object: w.Object, Raw: w.Raw, OldObject: w.OldObject, DuplicateKeys: w.DuplicateKeys,
		Namespace: w.Namespace, Subresource: w.Subresource, FieldValidation: w.FieldValidation,
	}
	if w.User.Name != "" {
		req.User = &user.DefaultInfo{Name: w.User.Name, UID: w.User.UID, Groups: w.User.Groups, Extra: w.User.Extra}
	}
	var in *admission
	if w.Admission != nil {
		in = &admission{policies: w.Admission}
		req.Admission = in
	}
	res, err := builtin.Validate(ctx, req)
	if limit := new(builtin.LimitError); errors.As(err, &limit) {
		err = &engine.WorkLimitError{Part: "schema", Reason: limit.Reason}
	}
	if in != nil && in.ended && res != nil {
		res = &engine.Result{Warnings: res.Warnings}
	}
	return res, err
}

// admission lets policies take part in a request. ended is set if they end it.
type admission struct {
	policies policyrequest.Admission
	ended    bool
}

var errEnded = apierrors.NewBadRequest("the policies end the request")

func (a *admission) Mutate(ctx context.Context, r builtin.Review) (map[string]any, error) {
	changed, ok := a.policies.Mutate(ctx, r.Object, r.OldObject)
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
