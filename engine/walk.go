package engine

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celadon-cel/celadon/engine/eval"
)

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// run is one pass of the rules over one object.
type run struct {
	ctx      context.Context
	rules    *Rules
	path     *field.Path // of the root
	budget   int64       // < 0: stopped
	cost     int64       // spent, also by what stopped
	findings []finding
	trace    *trace // nil: not asked for
	// warn takes ratcheted errors; nil: k8s.io/apiserver/pkg/warning does.
	warn func(string)
	// activation is bound anew at each node.
	activation eval.Activation
	frames     frames
}

// finding is one error of a rule.
type finding struct {
	err  *field.Error
	rule *rule // nil: not one rule's
}

// run takes up what an earlier pass left, so that an object that passes costs
// no memory; done gives it back.
func (r *Rules) run(ctx context.Context, budget int64, t *trace) *run {
	p, ok := r.passes.Get().(*run)
	if !ok {
		p = &run{frames: make(frames, 0, usualDepth)}
	}
	*p = run{ctx: ctx, rules: r, budget: budget, trace: t, frames: p.frames}
	return p
}

func (r *run) done() {
	clear(r.frames[:cap(r.frames)])
	rules := r.rules
	*r = run{frames: r.frames[:0]}
	rules.passes.Put(r)
}

// usualDepth spares most objects a second slice.
const usualDepth = 16

// root runs all rules; old is nil on create.
func (r *run) root(path *field.Path, obj, old any) {
	if r.rules.root == nil {
		return
	}
	defer r.activation.Release()
	r.path = path
	old = nilIfEmpty(old)
	f := frame{up: noFrame, parent: noFrame}
	if old != nil && r.rules.ratchet {
		f.correlated, f.schema, f.obj, f.old = true, r.rules.schema, obj, old
	}
	r.below(r.rules.root, f, obj, old)
}

// below goes down to a node and comes back.
func (r *run) below(n *ruleNode, f frame, obj, old any) {
	at := len(r.frames)
	r.frames = append(r.frames, f)
	r.node(n, at, obj, old)
	r.frames = r.frames[:at]
}

// nilIfEmpty guards against typed nils of Go callers.
func nilIfEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return nil
		}
	case []any:
		if v == nil {
			return nil
		}
	}
	return v
}

// node runs the rules of a node, of its allOf, and of all below, until the
// budget is spent.
func (r *run) node(n *ruleNode, f int, obj, old any) {
	if obj == nil {
		return // rules on a nullable node see only values
	}
	r.rulesAt(n, f, obj, nilIfEmpty(old))
	for _, sub := range n.allOf {
		if r.budget < 0 {
			return
		}
		r.below(sub, r.frames.allOf(f), obj, old)
	}
	if r.budget < 0 {
		return
	}
	switch obj := obj.(type) {
	case []any:
		old, _ := old.([]any)
		r.list(n, f, obj, old)
	case map[string]any:
		old, _ := old.(map[string]any)
		if !upstreamcel.MapIsCorrelatable(n.decl.Schema.XMapType) {
			old = nil
		}
		r.entries(n, f, obj, old)
		r.fields(n, f, obj, old)
	}
}

func (r *run) list(n *ruleNode, f int, obj, old []any) {
	if n.items == nil {
		return
	}
	var byKey common.MapList
	if len(old) > 0 && isMapList(n.decl.Schema) {
		byKey = oldItems(n.decl.Schema, old)
	}
	for i, item := range obj {
		if r.budget < 0 {
			return
		}
		var oldItem any
		if byKey != nil {
			oldItem = byKey.Get(item)
		}
		r.below(n.items, r.frames.item(f, i, item, oldItem), item, oldItem)
	}
}

// entries goes by sorted key where upstream takes the order of a Go map.
func (r *run) entries(n *ruleNode, f int, obj, old map[string]any) {
	if n.values == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(obj)) {
		if r.budget < 0 {
			return
		}
		r.below(n.values, r.frames.field(f, stepKey, key, n.values.schema), obj[key], old[key])
	}
}

func (r *run) fields(n *ruleNode, f int, obj, old map[string]any) {
	for i := range n.fields {
		field := &n.fields[i]
		v, ok := obj[field.name]
		if !ok || v == nil {
			continue
		}
		if r.budget < 0 {
			return
		}
		r.below(field.node, r.frames.field(f, stepField, field.name, field.node.schema), v, old[field.name])
	}
}

// rulesAt runs the rules that stand on one node.
func (r *run) rulesAt(n *ruleNode, f int, obj, old any) {
	if n.noType != nil {
		r.report(nil, field.Invalid(r.frames.path(f, r.path), n.decl.Schema.Type, "rule compiler initialization error: "+n.noType.Error()))
		return
	}
	if len(n.rules) == 0 {
		return
	}
	at := place{node: n, frame: f, obj: obj, hasOld: old != nil}
	if r.budget <= 0 {
		r.stop(nil, r.invalid(&at, outOfBudget))
		return
	}
	if n.usesOld {
		r.activation.BindOld(n.decl, obj, old)
	} else {
		r.activation.Bind(n.decl, obj)
	}
	for _, rule := range n.rules {
		r.rule(rule, &at)
		if r.budget < 0 {
			return
		}
	}
}

// place is where a rule runs.
type place struct {
	node   *ruleNode
	frame  int
	obj    any
	hasOld bool
}

// invalid shows the type in place of the value, as upstream does for all but a
// false rule.
func (r *run) invalid(at *place, detail string) *field.Error {
	return field.Invalid(r.frames.path(at.frame, r.path), at.node.decl.Schema.Type, detail)
}

func (r *run) rule(rule *rule, at *place) {
	if rule.compileErr != "" {
		r.report(rule, r.invalid(at, "rule compile error: "+rule.compileErr))
		return
	}
	if rule.expr == nil {
		return // no text
	}
	if rule.expr.usesOld && !at.hasOld && !rule.optional {
		return // a transition rule needs an old value
	}
	r.activation.SetOptional(rule.optional)
	out := rule.expr.program.Eval(r.ctx, &r.activation)
	r.trace.ran(rule, out.Cost)
	if !r.spend(out.Cost) {
		r.stop(rule, r.invalid(at, outOfBudget))
		return
	}
	switch {
	case out.Stopped:
		r.stop(rule, r.invalid(at, "'"+out.Err.Error()+"': no further validation rules will be run due to call cost exceeds limit for rule: "+rule.text()))
	case out.Err != nil:
		r.report(rule, r.invalid(at, runtimeError(out.Err, rule)))
	case out.False():
		r.refuse(rule, at)
	}
}

// runtimeError is the server's text for a rule that has no result. The first
// form is for values whose type is only known now, as int-or-string.
func runtimeError(err error, rule *rule) string {
	text := err.Error()
	if strings.HasPrefix(text, "no such overload") {
		return "'" + text + "': call arguments did not match a supported operator, function or macro signature for rule: " + rule.text()
	}
	return text + " evaluating rule: " + rule.text()
}

// spend takes cost from the budget, and says false when there is not enough.
func (r *run) spend(cost uint64) bool {
	r.cost += int64(min(cost, math.MaxInt64))
	if cost > math.MaxInt64 || int64(cost) > r.budget {
		return false
	}
	r.budget -= int64(cost)
	return true
}

func (r *run) report(rule *rule, err *field.Error) {
	r.trace.failed(rule)
	r.findings = append(r.findings, finding{err, rule})
}

// stop reports the error that ends all evaluation.
func (r *run) stop(rule *rule, err *field.Error) {
	r.report(rule, err)
	r.budget = -1
}

// ratchet reports an error, or warns of it where nothing has changed. Rules
// that mention oldSelf are about change and so never ratcheted.
func (r *run) ratchet(rule *rule, f int, err *field.Error) {
	if !rule.expr.usesOld && r.frames.unchanged(f) {
		r.trace.failed(rule)
		if r.warn != nil {
			r.warn(err.Error())
		} else {
			warning.AddWarning(r.ctx, "", err.Error())
		}
		return
	}
	r.report(rule, err)
}
