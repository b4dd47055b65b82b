package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
)

// UnitCall is a call of the API server's rule validator, recorded from its unit tests, with its
// arguments and results.
type UnitCall struct {
	Test           string                          `json:"test"`
	Schema         apiextensionsv1.JSONSchemaProps `json:"schema"`
	IsResourceRoot bool                            `json:"isResourceRoot"`
	Object         json.RawMessage                 `json:"object"`
	OldObject      json.RawMessage                 `json:"oldObject"`
	Ratcheting     bool                            `json:"ratcheting"`
	Valid          bool                            `json:"valid"`
	Errors         []UnitError                     `json:"errors"`
	CostBudget     int64                           `json:"costBudget"`
	// Cost is the cost in CEL cost units, or nil if evaluation exceeded the budget.
	Cost *int64 `json:"cost"`
}

// UnitError is a recorded error.
type UnitError struct {
	Field  string `json:"field"`
	Type   string `json:"type"`
	Detail string `json:"detail"`
	Error  string `json:"error"`
}

// ReadUnitCalls reads a file of recorded calls.
func ReadUnitCalls(file string) ([]*UnitCall, error) {
	var out []*UnitCall
	err := eachLine(file, func(line []byte) error {
		u := &UnitCall{}
		out = append(out, u)
		return json.Unmarshal(line, u)
	})
	return out, err
}

func (u *UnitCall) replay(ctx context.Context) ([]Difference, error) {
	rules, err := u.compile()
	if err != nil {
		return nil, err
	}
	object, err := decodeValue(u.Object)
	if err != nil {
		return nil, err
	}
	old, err := decodeValue(u.OldObject)
	if err != nil {
		return nil, err
	}
	errs, remaining := rules.Validate(ctx, field.NewPath("root"), object, old, u.CostBudget)
	return append(u.compareErrors(errs), u.compareCost(remaining)...), nil
}

func (u *UnitCall) structural() (*schema.Structural, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&u.Schema, internal, nil); err != nil {
		return nil, err
	}
	return schema.NewStructural(internal)
}

func (u *UnitCall) compile() (*engine.Rules, error) {
	structural, err := u.structural()
	if err != nil {
		return nil, err
	}
	rules, err := engine.CompileRules(structural, engine.Config{Subtree: !u.IsResourceRoot, NoRatcheting: !u.Ratcheting})
	if rules != nil {
		return rules, nil // invalid rules make the object invalid, as they do upstream
	}
	return nil, err
}

// decodeValue decodes numbers as the server does.
func decodeValue(data json.RawMessage) (any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	wrapped, err := engine.Decode(slices.Concat([]byte(`{"value":`), data, []byte(`}`)))
	return wrapped["value"], err
}

func (u *UnitCall) compareErrors(errs field.ErrorList) []Difference {
	var right, ours []Cause
	for _, e := range u.Errors {
		right = append(right, Cause{e.Type, e.Field, withoutClock(e.Error)})
	}
	for _, e := range errs {
		ours = append(ours, Cause{string(e.Type), e.Field, withoutClock(e.Error())})
	}
	return compareCauses(right, ours)
}

func (u *UnitCall) compareCost(remaining int64) []Difference {
	stopped := remaining < 0
	if u.Cost == nil {
		if stopped {
			return nil
		}
		return []Difference{{"cost", fmt.Sprintf("want a stop for cost, got %d units", u.CostBudget-remaining)}}
	}
	if got := u.CostBudget - remaining; stopped || got != *u.Cost {
		return []Difference{{"cost", fmt.Sprintf("want %d units, got %d", *u.Cost, got)}}
	}
	return nil
}
