package policyrequest

import (
	"context"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/x/secret"
)

// Kind is the kind of policies.
const Kind = "ValidatingAdmissionPolicy"

// A Decision is an effect of an admission policy on an object. A decision with several actions has an
// entry for each. The JSON form is a published contract.
type Decision struct {
	Policy  string `json:"policy"`
	Binding string `json:"binding"`
	Kind    string `json:"kind"`
	// Params is the name of the params object, after its namespace if it has one.
	Params string `json:"params,omitempty"`
	// Validation is the index in spec.validations, or -1 if the decision is about the policy as a
	// whole.
	Validation int `json:"validation"`
	// Condition is the name of the matchCondition that failed, if the decision is about one.
	Condition string `json:"condition,omitempty"`
	// Action is Deny, Warn, or Audit. It is "" if an expression fails and failurePolicy is Ignore.
	Action  string `json:"action"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Error is set if an expression could not be evaluated.
	Error bool  `json:"error"`
	Cost  int64 `json:"cost"`
	// Expression is the expression of the validation or matchCondition. File, Line, and Column are
	// its position. With Values, they are the position of the part that determined the result.
	Expression string `json:"expression,omitempty"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
	Column     int    `json:"column,omitempty"`
	// Hint describes how to avoid the error of the expression, or is "".
	Hint string `json:"hint,omitempty"`
	// Values are the values that the expression read, if Describer.Explain is set.
	Values []Value `json:"values,omitempty"`
}

// A Value is a part of an expression with its value as shortened JSON.
type Value struct {
	Expr string `json:"expr"`
	Text string `json:"value"`
}

// A Validation is the expression of a validation and its position. Line is 0 if it is not known.
type Validation struct {
	Expression string
	File       string
	Line       int
	// Inside returns the position of a code point of the expression, or 0 if it is not known. It can be nil.
	Inside func(offset int) (line, column int)
}

func (d *Decision) locate(at *Validation, offset int) {
	d.Expression, d.File, d.Line = at.Expression, at.File, at.Line
	if at.Inside == nil {
		return
	}
	if line, column := at.Inside(offset); line > 0 {
		d.Line, d.Column = line, column
	}
}

// decisive returns the first value with a problem and an offset, or else the first with an offset,
// or nil.
func decisive(values []policy.Value) (first *policy.Value) {
	for i := range values {
		switch v := &values[i]; {
		case v.Offset < 0:
		case v.Problem != "":
			return v
		case first == nil:
			first = v
		}
	}
	return first
}

// maxExplained limits the decisions in a result that have values, and maxValue the characters of a
// value.
const (
	maxExplained = 100
	maxValue     = 120
)

// A Describer describes the decisions in the results of a Set.
type Describer struct {
	Set *policy.Set
	// Validation returns the validation of a policy with the given index. If the index is -1, it returns the
	// matchCondition with a name, or without a name, the position of the policy.
	Validation func(policy string, index int, condition string) Validation
	// Explain adds the values of expressions.
	Explain bool
}

// Decisions returns the decisions in a result of the set for req. Secrets are hidden in values. The
// error is the context's or an internal error; then only values are missing.
func (d *Describer) Decisions(ctx context.Context, req policy.Request, res *policy.Result, secrets secret.Texts) (list []Decision, err error) {
	for i := range res.Evaluations {
		e := &res.Evaluations[i]
		for _, of := range e.Decisions {
			one := Decision{
				Policy: e.Policy, Binding: e.Binding, Kind: Kind, Params: e.Params, Validation: of.Validation, Condition: of.Condition,
				Reason: of.Reason, Message: of.Message, Error: of.Failed, Cost: of.Cost,
			}
			at, offset := d.Validation(e.Policy, of.Validation, of.Condition), 0
			if d.Explain && len(list) < maxExplained {
				values, failed := d.Set.Explain(ctx, req, e, of.Validation)
				if failed != nil {
					err = failed
				}
				one.Values = shown(values, secrets)
				if v := decisive(values); v != nil {
					offset = v.Offset
				}
				if i := slices.IndexFunc(values, func(v policy.Value) bool { return v.Hint != "" }); i >= 0 {
					one.Hint = values[i].Hint
				}
			}
			one.locate(&at, offset)
			actions := of.Actions
			if len(actions) == 0 {
				actions = []policy.Action{""}
			}
			for _, action := range actions {
				one.Action = string(action)
				list = append(list, one)
			}
		}
	}
	return list, err
}

func shown(values []policy.Value, secrets secret.Texts) (list []Value) {
	for _, v := range values {
		text := fmt.Sprintf("(%s)", v.Problem)
		if v.Problem == "" {
			of := v.Value
			if len(secrets) > 0 {
				of = secrets.HidePieces(of)
			}
			text = preview.JSON(of, maxValue)
		}
		list = append(list, Value{Expr: v.Expression, Text: text})
	}
	return list
}
