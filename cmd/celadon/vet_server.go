package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

// vetServer implements vet.Builtins. It is not in package builtins, because other commands do not need policyvet.
type vetServer struct{ builtins.Server }

// HasExpressions implements vet.Builtins.
func (vetServer) HasExpressions(object map[string]any) bool { return builtin.Input(object) != "" }

// VetExpressions implements vet.Builtins.
func (s vetServer) VetExpressions(ctx context.Context, object map[string]any, duplicateKeys error, minor int) (*policyvet.Compiled, error) {
	id := input.Identify(object)
	kind := schema.FromAPIVersionAndKind(id.APIVersion, id.Kind)
	c := &policyvet.Compiled{Kind: kind.Kind}
	for _, x := range builtin.Expressions(object) {
		c.Expressions = append(c.Expressions, policyvet.CompiledExpression(x))
	}
	var err error
	switch absence := s.Absent(kind, minor); {
	case builtin.IsConfiguration(object):
		c.Result, err = builtin.ValidateConfiguration(object)
	case absence != nil:
		problem := fmt.Sprintf("Kubernetes 1.%d does not serve %s %s%s", minor, kind.GroupVersion(), kind.Kind, absence.Hint)
		c.Result = &engine.Result{Causes: []engine.Cause{{Field: absence.Field, Message: problem}}}
	default:
		c.Result, err = builtin.Validate(ctx, builtin.Request{
			Object: object, DuplicateKeys: duplicateKeys, KubeMinor: minor, FieldValidation: "Strict", NoObject: true,
		})
	}
	return c, builtins.Limited(err)
}
