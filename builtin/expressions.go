package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	authorizationv1 "k8s.io/api/authorization/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	dracel "k8s.io/dynamic-resource-allocation/cel"

	"github.com/celadon-cel/celadon/engine"
)

// How it works: DeviceClasses, ResourceClaims, their templates, and the configuration files of
// kube-apiserver have expressions in fields named expression or valueExpression. The server's
// libraries compile and run them.

// An Evaluation is the result of an expression in a document other than a policy.
type Evaluation struct {
	// Path is the field of the expression, and Device the name of the device that it is evaluated for, or "".
	Path, Expression, Device string
	// Value is decoded JSON. It is nil if Err is set.
	Value any
	Err   error
}

const (
	ofDevices = "a ResourceSlice"
	ofAccess  = "a SubjectAccessReview"
	ofClaims  = "the claims of a token, without apiVersion and kind"
)

// Input describes the objects over which Evaluate evaluates the expressions of a document, such as
// "a ResourceSlice". It returns "" for a kind without such expressions.
func Input(document map[string]any) string {
	return map[schema.GroupKind]string{
		{Group: resourcev1.GroupName, Kind: "DeviceClass"}:               ofDevices,
		{Group: resourcev1.GroupName, Kind: "ResourceClaim"}:             ofDevices,
		{Group: resourcev1.GroupName, Kind: "ResourceClaimTemplate"}:     ofDevices,
		{Group: configurationGroup, Kind: "AuthorizationConfiguration"}:  ofAccess,
		{Group: configurationGroup, Kind: "AuthenticationConfiguration"}: ofClaims,
	}[kindOfObject(document).GroupKind()]
}

// Evaluate evaluates the expressions of a document over an input that Input describes: selectors
// for each device, the matchConditions of authorizers, and mappings and rules for claims. It
// returns an error if the input is of another kind or cannot be decoded, if ctx is done, or on an
// internal error.
func Evaluate(ctx context.Context, document, input map[string]any) (all []Evaluation, err error) {
	defer func() {
		if p := recover(); p != nil {
			all, err = nil, &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	want, kind := Input(document), kindOfObject(input).Kind
	switch {
	case want == ofDevices && kind == "ResourceSlice":
		all, err = overDevices(ctx, document, input)
	case want == ofAccess && kind == "SubjectAccessReview":
		all, err = overAccess(ctx, document, input)
	case want == ofClaims && kind == "":
		all, err = overClaims(ctx, document, input)
	default:
		return nil, fmt.Errorf("got an object of kind %q, want %s", kind, want)
	}
	return all, cmp.Or(err, ctx.Err())
}

func evaluateIn(v any, path string, value func(expression string) (any, error)) (all []Evaluation) {
	for _, found := range expressionsIn(v, path) {
		one := Evaluation{Path: found.path, Expression: found.source}
		if one.Value, one.Err = value(found.source); one.Err != nil {
			one.Value = nil
		}
		all = append(all, one)
	}
	return all
}

func decodeInto(object map[string]any, out any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

func overDevices(ctx context.Context, document, input map[string]any) (all []Evaluation, err error) {
	var slice resourcev1.ResourceSlice
	if err := decodeInto(input, &slice); err != nil {
		return nil, err
	}
	compiler := dracel.GetCompiler(deviceFeatures())
	programs := map[string]dracel.CompilationResult{}
	for _, d := range slice.Spec.Devices {
		device := dracel.Device{Driver: slice.Spec.Driver, Attributes: d.Attributes, Capacity: d.Capacity}
		device.AllowMultipleAllocations = d.AllowMultipleAllocations
		for _, one := range evaluateIn(document["spec"], "spec", func(expression string) (any, error) {
			program, ok := programs[expression]
			if !ok {
				program = compiler.CompileCELExpression(expression, dracel.Options{DisableCostEstimation: true})
				programs[expression] = program
			}
			if program.Error != nil {
				return nil, program.Error
			}
			matches, _, err := program.DeviceMatches(ctx, device)
			return matches, err
		}) {
			if one.Device = d.Name; strings.HasSuffix(one.Path, "].cel.expression") {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

func overAccess(ctx context.Context, document, input map[string]any) ([]Evaluation, error) {
	var review authorizationv1.SubjectAccessReview
	if err := decodeInto(input, &review); err != nil {
		return nil, err
	}
	compiler := authorizationcel.NewDefaultCompiler()
	return evaluateIn(document, "", func(expression string) (any, error) {
		program, err := compiler.CompileCELExpression(&authorizationcel.SubjectAccessReviewMatchCondition{Expression: expression})
		if err != nil {
			return nil, err
		}
		matcher := authorizationcel.CELMatcher{
			CompilationResults: []authorizationcel.CompilationResult{program},
			UsesLabelSelector:  program.UsesLabelSelector, UsesFieldSelector: program.UsesFieldSelector,
		}
		return matcher.Eval(ctx, &review)
	}), nil
}

// overClaims evaluates the mappings and rules of each issuer over claims, and its rules for users
// over the user that it maps claims to.
func overClaims(ctx context.Context, document, input map[string]any) (all []Evaluation, err error) {
	var claims map[string]any // a server reads all numbers as doubles
	if err := decodeInto(input, &claims); err != nil {
		return nil, err
	}
	compiler := authenticationcel.NewDefaultCompiler()
	ofClaims := func(expression string) (any, error) {
		program, err := compiler.CompileClaimsExpression(&authenticationcel.ClaimMappingExpression{Expression: expression})
		if err != nil {
			return nil, err
		}
		of := authenticationcel.NewClaimsMapper([]authenticationcel.CompilationResult{program})
		return decoded(of.EvalClaimMappings(ctx, mapper(claims)))
	}
	issuers, _ := document["jwt"].([]any)
	for i, issuer := range issuers {
		fields, _ := issuer.(map[string]any)
		at := fmt.Sprintf("jwt[%d].", i)
		mapped := evaluateIn(fields["claimMappings"], at+"claimMappings", ofClaims)
		user := mapper(userOf(fields["claimMappings"], at+"claimMappings.", mapped, claims))
		validated := evaluateIn(fields["claimValidationRules"], at+"claimValidationRules", ofClaims)
		ofUser := func(expression string) (any, error) {
			program, err := compiler.CompileUserExpression(&authenticationcel.ClaimMappingExpression{Expression: expression})
			if err != nil {
				return nil, err
			}
			of := authenticationcel.NewUserMapper([]authenticationcel.CompilationResult{program})
			return decoded(of.EvalUser(ctx, user))
		}
		users := evaluateIn(fields["userValidationRules"], at+"userValidationRules", ofUser)
		all = slices.Concat(all, mapped, validated, users)
	}
	return all, nil
}

func decoded(results []authenticationcel.EvaluationResult, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	native, err := results[0].EvalResult.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return nil, fmt.Errorf("the value cannot be written as JSON: %w", err)
	}
	value, ok := native.(*structpb.Value)
	if !ok {
		return nil, fmt.Errorf("the value cannot be written as JSON: it is a %T", native)
	}
	return value.AsInterface(), nil
}

func mapper(fields map[string]any) traits.Mapper {
	m, _ := celtypes.DefaultTypeAdapter.NativeToValue(withEscaped(fields)).(traits.Mapper)
	return m
}

// withEscaped returns a copy of a value in which names that CEL cannot select also have an entry with their escaped
// form.
func withEscaped(v any) any {
	switch v := v.(type) {
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = withEscaped(item)
		}
		return items
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, value := range v {
			fields[name] = withEscaped(value)
			if escaped, ok := apiservercel.Escape(name); ok {
				fields[escaped] = fields[name]
			}
		}
		return fields
	}
	return v
}

// userOf returns the user that claims are mapped to. mapped holds the values of expressions, whose paths begin with at.
func userOf(of any, at string, mapped []Evaluation, claims map[string]any) map[string]any {
	mappings, _ := of.(map[string]any)
	computed := func(path string) any {
		for _, one := range mapped {
			if one.Path == at+path {
				return one.Value
			}
		}
		return nil
	}
	value := func(name string) any {
		from, _ := mappings[name].(map[string]any)
		claim, _ := from["claim"].(string)
		if claim == "" {
			return computed(name + ".expression")
		}
		prefix, _ := from["prefix"].(string)
		prefixed := texts(claims[claim])
		for i := range prefixed {
			prefixed[i] = prefix + fmt.Sprint(prefixed[i])
		}
		return prefixed
	}
	extra := map[string]any{}
	list, _ := mappings["extra"].([]any)
	for i, item := range list {
		fields, _ := item.(map[string]any)
		extra[fmt.Sprint(fields["key"])] = texts(computed(fmt.Sprintf("extra[%d].valueExpression", i)))
	}
	first := func(v any) string { return fmt.Sprint(append(texts(v), "")[0]) }
	return map[string]any{
		"username": first(value("username")), "uid": first(value("uid")), "groups": texts(value("groups")), "extra": extra,
	}
}

func texts(v any) []any {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	return slices.DeleteFunc(slices.Clone(list), func(item any) bool {
		text, ok := item.(string)
		return !ok || text == ""
	})
}
