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

var (
	requestType   = objectType("kubernetes.AdmissionRequest", requestFields)
	namespaceType = objectType("kubernetes.Namespace", namespaceFields)
)

// newRoots returns the roots of the expressions of a policy or webhook.
func newRoots(hasParams, isPolicy bool, variables *kubecel.DeclType) []celenv.Root {
	roots := make([]celenv.Root, rootCount)
	roots[objectRoot] = celenv.Root{Name: "object", Type: cel.DynType}
	roots[oldObjectRoot] = celenv.Root{Name: "oldObject", Type: cel.DynType}
	roots[namespaceRoot] = celenv.Root{Name: "namespaceObject", Object: namespaceType}
	roots[requestRoot] = celenv.Root{Name: "request", Object: requestType}
	roots[variablesRoot] = celenv.Root{Name: undeclaredName, Type: cel.DynType}
	if isPolicy {
		roots[variablesRoot] = celenv.Root{Name: "variables", Object: variables}
	}
	roots[paramsRoot] = celenv.Root{Name: undeclaredName, Type: cel.DynType}
	if hasParams {
		roots[paramsRoot].Name = "params"
	}
	roots[authorizerRoot] = celenv.Root{Name: "authorizer", Type: kubecel.AuthorizerType}
	roots[resourceRoot] = celenv.Root{Name: "authorizer.requestResource", Type: kubecel.ResourceCheckType}
	return roots
}

// The fields of object types, in the form of objectType, as the API server declares them:
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/.
const (
	requestFields = `kind:kubernetes.GroupVersionKind{group,version,kind} resource:kubernetes.GroupVersionResource{group,version,resource} subResource?
		requestKind:kubernetes.GroupVersionKind{group,version,kind} requestResource:kubernetes.GroupVersionResource{group,version,resource}
		requestSubResource? name namespace? operation
		userInfo:kubernetes.UserInfo{username?,uid?,groups?:[string],extra?:map[[string]]} dryRun?:bool options?:dyn`
	namespaceFields = `metadata:kubernetes.NamespaceMetadata{name,generateName,namespace,labels:map[string],annotations:map[string],UID,creationTimestamp:timestamp,deletionGracePeriodSeconds:int,deletionTimestamp:timestamp,generation:int,resourceVersion,finalizers:[string]}
		spec:kubernetes.NamespaceSpec{finalizers:[string]}
		status:kubernetes.NamespaceStatus{conditions:[kubernetes.NamespaceCondition{status,type,lastTransitionTime:timestamp,message,reason}],phase}`
)

// objectType returns the object type with the given name and fields. Fields are separated by spaces
// or commas and have the form name, name:type, or, if they may be absent, name?:type. A field without
// a type is a string. A type is a scalar, [type], map[type], or an object type with its fields in
// braces.
func objectType(name, fields string) *kubecel.DeclType {
	list := map[string]*kubecel.DeclField{}
	for _, field := range splitFields(fields) {
		text, of, typed := strings.Cut(field, ":")
		if !typed {
			of = "string"
		}
		field, optional := strings.CutSuffix(text, "?")
		list[field] = kubecel.NewDeclField(field, fieldType(of), !optional, nil, nil)
	}
	return kubecel.NewObjectType(name, list)
}

func fieldType(text string) *kubecel.DeclType {
	if elem, ok := strings.CutPrefix(text, "["); ok {
		return kubecel.NewListType(fieldType(strings.TrimSuffix(elem, "]")), -1)
	}
	if elem, ok := strings.CutPrefix(text, "map["); ok {
		return kubecel.NewMapType(kubecel.StringType, fieldType(strings.TrimSuffix(elem, "]")), -1)
	}
	if name, fields, ok := strings.Cut(text, "{"); ok {
		return objectType(name, strings.TrimSuffix(fields, "}"))
	}
	switch text {
	case "bool":
		return kubecel.BoolType
	case "int":
		return kubecel.IntType
	case "timestamp":
		return kubecel.TimestampType
	case "dyn":
		return kubecel.DynType
	}
	return kubecel.StringType
}

// splitFields splits a list of fields at the separators that are not in braces.
func splitFields(fields string) (list []string) {
	depth, field := 0, ""
	for _, c := range fields + " " {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case depth == 0 && strings.ContainsRune(", \t\n", c):
			if field != "" {
				list = append(list, field)
			}
			field = ""
			continue
		}
		field += string(c)
	}
	return list
}
