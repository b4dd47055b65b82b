package policyrequest

import (
	"context"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
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
	// Validation is the index in spec.validations, or -1 if the decision is not about a single validation.
	Validation int `json:"validation"`
	// Condition is the name of the matchCondition that failed, if the decision is about one.
	Condition string `json:"condition,omitempty"`
	// Action is Deny, Warn, or Audit. It is "" for a failure that failurePolicy Ignore ignores.
	Action  string `json:"action"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Error is set if the policy could not be used, or an expression could not be evaluated.
	Error bool  `json:"error"`
	Cost  int64 `json:"cost"`
	Explanation
}

// An Explanation is the expression of a policy that determined a result.
type Explanation struct {
	// Expression is a validation, mutation, or matchCondition. File, Line, and Column are its position, or
	// with Values, the position of the part that failed or made a validation false, if it is known.
	Expression string `json:"expression,omitempty"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
	Column     int    `json:"column,omitempty"`
	// Hint describes how to avoid the error of the expression, or is "".
	Hint string `json:"hint,omitempty"`
	// Values are the values that the expression read, if Describer.Explain is set.
	Values []Value `json:"values,omitempty"`
	// Offset is the position of that part in Expression, in code points, or 0 if it is not known.
	Offset int `json:"-"`
}

// A Value is a part of an expression with its value as shortened JSON.
type Value struct {
	Expr string `json:"expr"`
	Text string `json:"value"`
}

// A Validation is the expression of a validation or mutation, and its position. Line is 0 if it is not known.
type Validation struct {
	Expression string
	File       string
	Line       int
	// Inside returns the position of a code point of the expression, or 0 if it is not known. It can be nil.
	Inside func(offset int) (line, column int)
}

// decisive returns the offset of the first value with a problem, or else, unless the expression failed, of the first
// value, or else 0.
func decisive(values []policy.Value, failed bool) (offset int) {
	first := -1
	for _, v := range values {
		switch {
		case v.Offset < 0:
		case v.Problem != "":
			return v.Offset
		case first < 0 && !failed:
			first = v.Offset
		}
	}
	return max(first, 0)
}

// MaxExplained limits the decisions in a result that have values, and maxValue the characters of a
// value.
const (
	MaxExplained = 100
	maxValue     = 120
)

// A Describer describes the decisions in the results of a Set.
type Describer struct {
	Set *policy.Set
	// Validation returns the validation, or for Mutation the mutation, of a policy with the given index. If the index is -1,
	// it returns the matchCondition with a name, or without a name, the position of the policy.
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
			var values []policy.Value
			if d.Explain && len(list) < MaxExplained {
				var failed error
				if values, failed = d.Set.Explain(ctx, req, e, of.Validation); failed != nil {
					err = failed
				}
			}
			one.Explanation = d.explanation(e.Policy, of.Validation, of.Condition, values, of.Failed, secrets)
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

// Mutation explains the first error of an evaluation of a mutating policy. It returns the zero value if there is none. Secrets
// and errors are as for Decisions.
func (d *Describer) Mutation(ctx context.Context, e *policy.MutationEvaluation, secrets secret.Texts) (x Explanation, err error) {
	req, of, index, ok := e.Failing()
	if !ok && e.Failure == "" {
		return x, nil
	}
	var values []policy.Value
	if ok && d.Explain {
		values, err = d.Set.Explain(ctx, req, of, index)
	}
	x = d.explanation(e.Policy, index, e.Condition, values, true, secrets)
	if x.Hint == "" && d.Explain && index >= 0 && index < len(e.Mutations) {
		if at := missingPath.FindStringSubmatch(e.Mutations[index].Failure); at != nil {
			x.Hint = "the object has no list or object at " + at[1] + ": add it in an earlier operation"
		}
	}
	return x, err
}

// Webhook explains the matchCondition that keeps a webhook from being called, if there is one. Secrets and errors are as
// for Decisions.
func (d *Describer) Webhook(ctx context.Context, m *policy.WebhookMatch, secrets secret.Texts) (x Explanation, err error) {
	var values []policy.Value
	if req, of, ok := m.Deciding(); ok && d.Explain {
		values, err = d.Set.Explain(ctx, req, of, -1)
	}
	return d.explanation(m.Webhook, -1, m.Condition, values, m.Failure != "", secrets), err
}

// missingPath matches the error of a JSON patch that adds to a parent that is missing, which it captures.
var missingPath = lazy.New(`^JSON Patch: add operation does not apply: doc is missing path: "(/.*)/[^/]*": missing value$`)

func (d *Describer) explanation(
	policyName string, index int, condition string, values []policy.Value, failed bool, secrets secret.Texts,
) Explanation {
	at := d.Validation(policyName, index, condition)
	x := Explanation{Expression: at.Expression, File: at.File, Line: at.Line, Values: shown(values, secrets), Offset: decisive(values, failed)}
	if i := slices.IndexFunc(values, func(v policy.Value) bool { return v.Hint != "" }); i >= 0 {
		x.Hint = values[i].Hint
	}
	if at.Inside == nil {
		return x
	}
	if line, column := at.Inside(x.Offset); line > 0 {
		x.Line, x.Column = line, column
	}
	return x
}

func shown(values []policy.Value, secrets secret.Texts) (list []Value) {
	for _, v := range values {
		text := fmt.Sprintf("(%s)", secrets.HidePieces(v.Problem))
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
