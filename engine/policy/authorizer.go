package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types/ref"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/celadon-cel/celadon/internal/kubecel"
)

// An Access is an access that an expression checks through authorizer.
type Access struct {
	User User
	Verb string
	// Path is the path of a request without resource. The fields below it are then empty.
	Path                                          string
	Group, Resource, Subresource, Namespace, Name string
}

func (a *Access) reason() string {
	return fmt.Sprintf("an expression asks whether %q may %s %s: add the RBAC objects", a.User.Name, a.Verb, a.what())
}

func (a *Access) what() string {
	if a.Path != "" {
		return a.Path
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	return schema.GroupResource{Group: a.Group, Resource: resource}.String()
}

// explain describes the decision about an access.
func (a *Access) explain(decision Authorization) string {
	what := a.what()
	if a.Name != "" {
		what += " " + a.Name
	}
	if a.Namespace != "" {
		what += " in namespace " + a.Namespace
	}
	switch {
	case decision.Allowed && decision.Reason != "":
		return "allowed, because " + decision.Reason
	case decision.Allowed:
		return fmt.Sprintf("allowed: %s may %s %s", a.User.Name, a.Verb, what)
	case decision.Reason != "":
		return "denied, because " + decision.Reason
	}
	return fmt.Sprintf("denied, because no role lets %s %s %s", a.User.Name, a.Verb, what)
}

// An Authorization is the decision about an Access.
type Authorization struct {
	// Known is false if the decision is not known. The result of an expression that checks the access is then not
	// known.
	Known   bool
	Allowed bool
	// Reason is the result of reason() in expressions.
	Reason string
}

type authority struct {
	decide func(Access) Authorization
	// unknown is an access whose decision is not known, or nil.
	unknown *Access
	// asked and answered are the last access and its decision, and accesses is the number of accesses, if explains is set.
	explains bool
	accesses int
	asked    *Access
	answered Authorization
}

var errUnknownAccess = errors.New("the decision is not known")

func (a *authority) Authorize(_ context.Context, of authorizer.Attributes) (authorizer.Decision, string, error) {
	access := Access{Verb: of.GetVerb()}
	if of.IsResourceRequest() {
		access.Group, access.Resource, access.Subresource = of.GetAPIGroup(), of.GetResource(), of.GetSubresource()
		access.Namespace, access.Name = of.GetNamespace(), of.GetName()
	} else {
		access.Path = of.GetPath()
	}
	if u := of.GetUser(); u != nil {
		access.User = User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}
	}
	var decision Authorization
	if a.decide != nil {
		decision = a.decide(access)
	}
	if a.explains {
		a.accesses++
		a.asked, a.answered = &access, decision
	}
	switch {
	case !decision.Known:
		if a.unknown == nil {
			a.unknown = &access
		}
		return authorizer.DecisionNoOpinion, "", errUnknownAccess
	case decision.Allowed:
		return authorizer.DecisionAllow, decision.Reason, nil
	}
	return authorizer.DecisionNoOpinion, decision.Reason, nil
}

func (a *authority) values(req *Request) (all, resource ref.Val) {
	info := &user.DefaultInfo{Name: req.User.Name, UID: req.User.UID, Groups: req.User.Groups, Extra: req.User.Extra}
	return kubecel.NewAuthorizerVal(info, a), kubecel.NewResourceAuthorizerVal(info, a, requested{req})
}

type requested struct{ req *Request }

func (r requested) GetName() string                          { return r.req.Name }
func (r requested) GetNamespace() string                     { return r.req.Namespace }
func (r requested) GetResource() schema.GroupVersionResource { return r.req.Resource }
func (r requested) GetSubresource() string                   { return r.req.Subresource }
