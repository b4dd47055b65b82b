package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	resourcev1 "k8s.io/api/resource/v1"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/kubernetes/pkg/features"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

// An Expression is an expression in a document for which Input is not "".
type Expression struct {
	Path, Source string
	// IsCondition is set if the expression must be a bool.
	IsCondition bool
	// Roots declares the variables.
	Roots []celenv.Root
	// Limit is the server's limit of the estimated cost, or 0 if the server estimates no cost.
	Limit uint64
	// Compile compiles another expression at the path, with the server's libraries. estimate is 0 without a Limit.
	Compile func(source string) (estimate uint64, err error)
}

// Expressions returns the expressions of a document in the order of their paths.
func Expressions(document map[string]any) (all []Expression) {
	kind := Input(document)
	if kind == "" {
		return nil
	}
	for _, found := range expressionsIn(document, "") {
		x := Expression{Path: found.path, Source: found.source, IsCondition: true}
		switch {
		case kind == ofAccess:
			x.Roots, x.Compile = requestRoots, compileCondition
		case kind == ofDevices && isOfDevices(x.Path):
			x.IsCondition = !strings.Contains(x.Path, ".derivedAttributes[")
			x.Roots, x.Limit = deviceRoots(), resourcev1.CELSelectorExpressionMaxCost
			x.Compile = compilerOfDevices(!x.IsCondition)
		case kind == ofDevices:
			continue
		case strings.Contains(x.Path, "].userValidationRules["):
			x.Roots, x.Compile = userRoots, compileUser
		case strings.Contains(x.Path, "].claimValidationRules["):
			x.Roots, x.Compile = claimRoots, compileClaimRule
		default:
			x.IsCondition, x.Roots, x.Compile = false, claimRoots, compileClaims
		}
		all = append(all, x)
	}
	return all
}

// isOfDevices reports whether an expression is that of a selector or a derived attribute.
func isOfDevices(path string) bool {
	return strings.HasPrefix(path, "spec.") &&
		(strings.HasSuffix(path, "].cel.expression") || strings.Contains(path, ".derivedAttributes["))
}

type located struct{ path, source string }

// expressionsIn returns the fields named expression and valueExpression, sorted by the names on their paths. It skips
// the parameters of drivers.
func expressionsIn(v any, path string) (all []located) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			all = append(all, expressionsIn(item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			if name == "opaque" { // parameters of a driver
				continue
			}
			source, ok := v[name].(string)
			if ok && (name == "expression" || name == "valueExpression") {
				all = append(all, located{at, source})
			} else {
				all = append(all, expressionsIn(v[name], at)...)
			}
		}
	}
	return all
}

var deviceFeatures = sync.OnceValue(func() dracel.Features {
	return dracel.Features{
		EnableConsumableCapacity: utilfeature.DefaultFeatureGate.Enabled(features.DRAConsumableCapacity),
		EnableListTypeAttributes: utilfeature.DefaultFeatureGate.Enabled(features.DRAListTypeAttributes),
	}
})

func compilerOfDevices(isDerived bool) func(string) (uint64, error) {
	return func(source string) (uint64, error) {
		kind := environment.NewExpressions
		options := dracel.Options{EnvType: &kind, DerivedAttribute: isDerived}
		result := dracel.GetCompiler(deviceFeatures()).CompileCELExpression(source, options)
		if result.Error != nil {
			return 0, result.Error
		}
		return result.MaxCost, nil
	}
}

func compileCondition(source string) (uint64, error) {
	_, err := authorization().CompileCELExpression(&authorizationcel.SubjectAccessReviewMatchCondition{Expression: source})
	return 0, err
}

func compileUser(source string) (uint64, error) {
	_, err := authentication().CompileUserExpression(&authenticationcel.UserValidationCondition{Expression: source})
	return 0, err
}

func compileClaimRule(source string) (uint64, error) {
	_, err := authentication().CompileClaimsExpression(&authenticationcel.ClaimValidationCondition{Expression: source})
	return 0, err
}

func compileClaims(source string) (uint64, error) {
	_, err := authentication().CompileClaimsExpression(&authenticationcel.ClaimMappingExpression{Expression: source})
	return 0, err
}

var (
	authentication = sync.OnceValue(authenticationcel.NewDefaultCompiler)
	authorization  = sync.OnceValue(authorizationcel.NewDefaultCompiler)
)

// deviceRoots returns the variable of selectors with the fields in the server's environment.
var deviceRoots = sync.OnceValue(func() []celenv.Root {
	kind, of := environment.NewExpressions, fields{}
	env := dracel.GetCompiler(deviceFeatures()).CompileCELExpression("true", dracel.Options{EnvType: &kind}).Environment
	values := apiservercel.NewMapType(textType, apiservercel.DynType, -1)
	known := fields{
		"driver": textType, "allowMultipleAllocations": apiservercel.BoolType,
		"attributes": apiservercel.NewMapType(textType, values, -1),
		"capacity":   apiservercel.NewMapType(textType, quantitiesType, -1),
	}
	for name, t := range known {
		if _, ok := env.CELTypeProvider().FindStructFieldType("kubernetes.DRADevice", name); ok {
			of[name] = t
		}
	}
	return []celenv.Root{{Name: "device", Object: object("kubernetes.DRADevice", of)}}
})

type fields map[string]*apiservercel.DeclType

func object(name string, of fields) *apiservercel.DeclType {
	list := map[string]*apiservercel.DeclField{}
	for field, t := range of {
		list[field] = apiservercel.NewDeclField(field, t, false, nil, nil)
	}
	return apiservercel.NewObjectType(name, list)
}

// The variables of the configuration files, as in k8s.io/apiserver/pkg/authentication/cel and authorization/cel.
var (
	textType  = apiservercel.StringType
	textsType = apiservercel.NewListType(textType, -1)
	extraType = apiservercel.NewMapType(textType, textsType, -1)

	quantitiesType = apiservercel.NewMapType(textType, apiservercel.QuantityDeclType, -1)

	requirementType = object("kubernetes.SelectorRequirement", fields{
		"key": textType, "operator": textType, "values": textsType,
	})
	selectorFields = fields{"rawSelector": textType, "requirements": apiservercel.NewListType(requirementType, -1)}

	claimRoots = []celenv.Root{{Name: "claims", Type: cel.MapType(cel.StringType, cel.DynType)}}
	userRoots  = []celenv.Root{{Name: "user", Object: object("kubernetes.UserInfo", fields{
		"username": textType, "uid": textType, "groups": textsType, "extra": extraType,
	})}}
	requestRoots = []celenv.Root{{Name: "request", Object: object("kubernetes.SubjectAccessReviewSpec", fields{
		"user": textType, "groups": textsType, "extra": extraType, "uid": textType,
		"nonResourceAttributes": object("kubernetes.NonResourceAttributes", fields{"path": textType, "verb": textType}),
		"resourceAttributes": object("kubernetes.ResourceAttributes", fields{
			"namespace": textType, "verb": textType, "group": textType, "version": textType, "resource": textType,
			"subresource": textType, "name": textType,
			"fieldSelector": object("kubernetes.FieldSelectorAttributes", selectorFields),
			"labelSelector": object("kubernetes.LabelSelectorAttributes", selectorFields),
		}),
	})}}
)
