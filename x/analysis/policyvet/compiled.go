package policyvet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/assist"
)

// How it works: the API server has expressions in documents other than policies, such as DeviceClasses and its
// configuration files. Its own code validates them. A Compiled adds the position, the hint, and the correction of an
// error, and the costs. Corrections are compiled by the same code.

// A Compiled is a document whose expressions the API server's code compiles.
type Compiled struct {
	Kind, Name string
	// Result is the verdict. Its causes have the paths of Expressions.
	Result      *engine.Result
	Expressions []CompiledExpression
}

// A CompiledExpression is an expression in a Compiled.
type CompiledExpression struct {
	Path, Source string
	// IsCondition is set if the expression must be a bool.
	IsCondition bool
	// Roots declares the variables.
	Roots []celenv.Root
	// Limit is the limit of the estimated cost, or 0 if the server estimates no cost.
	Limit uint64
	// Compile compiles another expression at the path and returns its estimated cost.
	Compile func(source string) (uint64, error)
}

// maxCompiled limits the expressions of a document whose costs are estimated.
const maxCompiled = 1000

// Report returns the report of c, for a Kubernetes version such as "1.33".
func (c *Compiled) Report(kubeVersion string) *Report {
	r := &Report{Kind: c.Kind, Name: c.Name, Accepted: c.Result.Allowed}
	for _, strict := range c.Result.Strict {
		r.Errors = append(r.Errors, Error{Path: strict.Field, Message: strict.Message})
	}
	if c.Result.Failure != nil && len(c.Result.Causes)+len(r.Errors) == 0 {
		r.Errors = []Error{{Message: c.Result.Failure.Message}}
	}
	for i, cause := range c.Result.Causes {
		e := Error{Path: cause.Field, Message: cause.Message}
		if at := slices.IndexFunc(c.Expressions, func(x CompiledExpression) bool { return x.Path == cause.Field }); at >= 0 {
			x := &c.Expressions[at]
			e.Expression, e.Message = x.Source, strings.TrimPrefix(e.Message, "Invalid value: "+strconv.Quote(x.Source)+": ")
			if i < maxExplained && len(x.Source) <= maxExplainedLength {
				e.Advice = x.explain(kubeVersion, e.Message)
			}
		}
		r.Errors = append(r.Errors, e)
	}
	if r.Accepted {
		r.Estimates = c.estimates()
	}
	return r
}

func (c *Compiled) estimates() []Estimate {
	var list []ExpressionEstimate
	for _, x := range c.Expressions[:min(len(c.Expressions), maxCompiled)] {
		if x.Limit == 0 {
			continue
		}
		if cost, err := x.Compile(x.Source); err == nil {
			list = append(list, ExpressionEstimate{Path: x.Path, Expression: x.Source, Cost: cost, Limit: x.Limit})
		}
	}
	if len(list) == 0 {
		return nil
	}
	return []Estimate{{Kind: "any device", Expressions: list}}
}

// explain returns the position of an error with a message of the API server, and a correction.
func (x *CompiledExpression) explain(kubeVersion, message string) (to Advice) {
	if cost, err := x.Compile(x.Source); err == nil {
		if x.Limit > 0 && cost > x.Limit {
			to.Hint = fmt.Sprintf("the estimated cost is %s, and the limit %s", phrase.Number(cost), phrase.Number(x.Limit))
		}
		return to
	}
	to.Offset = positionIn(message, x.Source)
	part := assist.AnyExpression
	if x.IsCondition {
		part = assist.Rule
	}
	problem := assist.NewPolicyContext(kubeVersion, part, x.Roots).Problem(x.Source, to.Offset)
	if problem == nil {
		return to
	}
	compiles := func(source string) bool {
		cost, err := x.Compile(source)
		return err == nil && cost <= cmp.Or(x.Limit, cost)
	}
	fixed := strings.TrimSpace(problem.Fixed(x.Source))
	isNamed := len(problem.Names) > 0 && !slices.ContainsFunc(problem.Names, func(name string) bool {
		source := []rune(x.Source)
		return !compiles(string(source[:problem.Start]) + strings.TrimSuffix(name, "()") + string(source[problem.End:]))
	})
	switch {
	case fixed != "" && compiles(fixed):
		to.Fixed = fixed
	case !isNamed && problem.Code != assist.Syntax:
		return to // the hint may not hold here
	}
	to.Offset, to.Hint = problem.Start, problem.Hint()
	return to
}

// positionIn returns the position in code points that a message of the compiler has first, or 0.
func positionIn(message, source string) int {
	_, at, ok := strings.Cut(message, "ERROR: <input>:")
	line, column := 0, 0
	if n, _ := fmt.Sscanf(at, "%d:%d:", &line, &column); !ok || n != 2 {
		return 0
	}
	offset := column - 1
	for text := range strings.Lines(source) {
		if line--; line <= 0 {
			break
		}
		offset += len([]rune(text))
	}
	return max(0, min(offset, len([]rune(source))))
}
