package fuzz

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celadon-cel/celadon/engine"
)

type outcome struct {
	errs     []string
	warnings []string
	budget   int64
}

type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }

func newOutcome(errs field.ErrorList, r *recorder, budget int64) outcome {
	o := outcome{budget: budget}
	for _, err := range errs {
		o.errs = append(o.errs, string(err.Type)+" "+normal(err.Error()))
	}
	for _, text := range r.texts {
		o.warnings = append(o.warnings, normal(text))
	}
	return sorted(o)
}

func sorted(o outcome) outcome {
	slices.Sort(o.errs)
	slices.Sort(o.warnings)
	return o
}

// selfType matches the name of self's type, which upstream derives from the time.
var selfType = regexp.MustCompile(`selfType\d*`)

func normal(s string) string { return selfType.ReplaceAllString(s, "selfType") }

func upstreamRules(v *upstreamcel.Validator, w *Scenario, budget int64) outcome {
	r := &recorder{}
	ctx := warning.WithWarningRecorder(context.Background(), r)
	var old any
	var opts []upstreamcel.Option
	if w.old != nil {
		old = w.old
		opts = append(opts, upstreamcel.WithRatcheting(common.NewCorrelatedObject(w.obj, w.old, &model.Structural{Structural: w.schema})))
	}
	errs, left := v.Validate(ctx, nil, w.schema, w.obj, old, budget, opts...)
	return newOutcome(errs, r, left)
}

func ourRules(rules *engine.Rules, w *Scenario, budget int64) outcome {
	r := &recorder{}
	ctx := warning.WithWarningRecorder(context.Background(), r)
	var old any
	if w.old != nil {
		old = w.old
	}
	errs, left := rules.Validate(ctx, nil, w.obj, old, budget)
	return newOutcome(errs, r, left)
}

// runs is the maximum number of upstream evaluations if the result depends on the order of a Go
// map.
const runs = 200

// If upstream's result varies between runs, ours must be consistent with that range.
func compareRules(w *Scenario, budget int64) (difference string, ours outcome) {
	validator := newValidator(w)
	if validator == nil {
		return "", outcome{}
	}
	rules, err := engine.CompileRules(w.schema, engine.Config{})
	if rules == nil {
		return fmt.Sprintf("our rules do not compile: %v", err), outcome{}
	}
	want := upstreamRules(validator, w, budget)
	ours = ourRules(rules, w, budget)
	for _, text := range ours.errs {
		if strings.Contains(text, "internal error in celadon") {
			return "an internal error: " + text, ours
		}
	}
	if again := ourRules(rules, w, budget); !equalOutcome(ours, again) {
		return fmt.Sprintf("ours differ from run to run: %v and %v", ours, again), ours
	}
	if equalOutcome(want, ours) {
		return "", ours
	}
	if want.budget < 0 && ours.budget < 0 && stoppedAlike(validator, w, want, ours) {
		return "", ours
	}
	seen := []outcome{want}
	for i := range runs {
		if seen = append(seen, upstreamRules(validator, w.shuffled(i), budget)); within(seen, ours) {
			return "", ours
		}
	}
	return describe(want, ours), ours
}

// stoppedAlike reports whether the errors of evaluations that exceeded the budget are plausible. In
// upstream the rule at which that happens depends on the order of a Go map, but every other
// reported error must also occur in a full evaluation.
func stoppedAlike(v *upstreamcel.Validator, w *Scenario, outcomes ...outcome) bool {
	full := count(upstreamRules(v, w, celconfig.RuntimeCELCostBudget).errs)
	for _, o := range outcomes {
		for text, n := range count(o.errs) {
			if !strings.Contains(text, "running out of cost budget") && full[text] < n {
				return false
			}
		}
	}
	return true
}

// newValidator returns upstream's validator, or nil if upstream panics, so that there is nothing to
// compare with.
func newValidator(w *Scenario) (v *upstreamcel.Validator) {
	defer func() {
		if recover() != nil {
			v = nil
		}
	}()
	return upstreamcel.NewValidator(w.schema, true, celconfig.PerCallLimit)
}

func equalOutcome(a, b outcome) bool {
	return a.budget == b.budget && slices.Equal(a.errs, b.errs) && slices.Equal(a.warnings, b.warnings)
}

// within reports whether ours is consistent with upstream's varying outcomes: each of our errors
// occurs in some run, ours has the errors that occur in all runs, and our cost is within their
// range.
func within(seen []outcome, ours outcome) bool {
	low, high := seen[0].budget, seen[0].budget
	always, sometimes := count(seen[0].errs), map[string]int{}
	varies := false
	for _, o := range seen {
		varies = varies || !equalOutcome(o, seen[0])
		low, high = min(low, o.budget), max(high, o.budget)
		errs := count(o.errs)
		for text := range always {
			always[text] = min(always[text], errs[text])
		}
		for text, n := range errs {
			sometimes[text] = max(sometimes[text], n)
		}
	}
	if !varies || ours.budget < low || ours.budget > high {
		return false
	}
	mine := count(ours.errs)
	for text, n := range always {
		if mine[text] < n {
			return false
		}
	}
	for text, n := range mine {
		if sometimes[text] < n {
			return false
		}
	}
	return true
}

func count(texts []string) map[string]int {
	n := map[string]int{}
	for _, text := range texts {
		n[text]++
	}
	return n
}

func describe(want, got outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "budget left: want %d, got %d\n", want.budget, got.budget)
	list := func(head string, from, without []string) {
		rest := count(without)
		for _, text := range from {
			if rest[text]--; rest[text] < 0 {
				fmt.Fprintf(&b, "%s %s\n", head, text)
			}
		}
	}
	list("- ", want.errs, got.errs)
	list("+ ", got.errs, want.errs)
	list("-W", want.warnings, got.warnings)
	list("+W", got.warnings, want.warnings)
	return b.String()
}
