package policy

import (
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/kubecel"
)

// Indexes of the roots of expressions. Webhooks have no variables and policies without paramKind no
// params; these roots are then declared under names that no expression can have. The roots of the
// authorizer are last, because message expressions do not have them.
const (
	objectRoot = iota
	oldObjectRoot
	namespaceRoot
	requestRoot
	variablesRoot
	paramsRoot
	authorizerRoot
	resourceRoot
	rootCount
)

// undeclaredName is the name of a root that expressions cannot use.
const undeclaredName = "@none"

func newRoots(hasParams, isPolicy bool, variables *kubecel.DeclType) []celenv.Root {
	roots := []celenv.Root{
		objectRoot:     {Name: "object", Type: cel.DynType},
		oldObjectRoot:  {Name: "oldObject", Type: cel.DynType},
		namespaceRoot:  {Name: "namespaceObject", Object: namespaceType},
		requestRoot:    {Name: "request", Object: requestType},
		variablesRoot:  {Name: undeclaredName, Type: cel.DynType},
		paramsRoot:     {Name: undeclaredName, Type: cel.DynType},
		authorizerRoot: {Name: "authorizer", Type: kubecel.AuthorizerType},
		resourceRoot:   {Name: "authorizer.requestResource", Type: kubecel.ResourceCheckType},
	}
	if isPolicy {
		roots[variablesRoot] = celenv.Root{Name: "variables", Object: variables}
	}
	if hasParams {
		roots[paramsRoot].Name = "params"
	}
	return roots
}

// The object types of roots, as the API server declares them:
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/.
var (
	textType  = kubecel.StringType
	textsType = kubecel.NewListType(textType, -1)
	timeType  = kubecel.TimestampType

	gvkType     = newObjectType("kubernetes.GroupVersionKind", fields{"group": textType, "version": textType, "kind": textType})
	gvrType     = newObjectType("kubernetes.GroupVersionResource", fields{"group": textType, "version": textType, "resource": textType})
	requestType = newObjectType("kubernetes.AdmissionRequest", fields{
		"kind": gvkType, "resource": gvrType, "subResource?": textType, "requestKind": gvkType, "requestResource": gvrType, "requestSubResource?": textType,
		"name": textType, "namespace?": textType, "operation": textType, "dryRun?": kubecel.BoolType, "options?": kubecel.DynType,
		"userInfo": newObjectType("kubernetes.UserInfo", fields{"username?": textType, "uid?": textType, "groups?": textsType, "extra?": mapOf(textsType)}),
	})
	namespaceType = newObjectType("kubernetes.Namespace", fields{
		"metadata": newObjectType("kubernetes.NamespaceMetadata", fields{
			"name": textType, "generateName": textType, "namespace": textType, "labels": mapOf(textType), "annotations": mapOf(textType), "UID": textType,
			"creationTimestamp": timeType, "deletionGracePeriodSeconds": kubecel.IntType, "deletionTimestamp": timeType,
			"generation": kubecel.IntType, "resourceVersion": textType, "finalizers": textsType,
		}),
		"spec": newObjectType("kubernetes.NamespaceSpec", fields{"finalizers": textsType}),
		"status": newObjectType("kubernetes.NamespaceStatus", fields{"phase": textType, "conditions": kubecel.NewListType(
			newObjectType("kubernetes.NamespaceCondition", fields{"status": textType, "type": textType, "lastTransitionTime": timeType, "message": textType, "reason": textType}), -1)}),
	})
)

// fields are the types of an object's fields. A name ends in a question mark if the field may be absent.
type fields map[string]*kubecel.DeclType

func newObjectType(name string, all fields) *kubecel.DeclType {
	list := map[string]*kubecel.DeclField{}
	for field, t := range all {
		field, optional := strings.CutSuffix(field, "?")
		list[field] = kubecel.NewDeclField(field, t, !optional, nil, nil)
	}
	return kubecel.NewObjectType(name, list)
}

func mapOf(values *kubecel.DeclType) *kubecel.DeclType {
	return kubecel.NewMapType(textType, values, -1)
}
