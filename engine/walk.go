package engine

import (
	"context"
	"maps"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/structural"
)

type run struct {
	ctx      context.Context
	rules    *Rules
	path     *field.Path // of the root
	budget   int64       // negative if evaluation stopped
	cost     int64       // spent, including the cost of a stopped evaluation
	findings []finding
	// textSize is the number of bytes of text in findings, and warned the number of ratcheted errors.
	textSize, warned int
	tally            *tally // nil if not requested
	// running is the current rule. bug is set if it met an internal error, which invalidates the run.
	running *compiledRule
	bug     *InternalError
	// overworked holds the rules that exceeded the work limit, which are not run again. unknown describes the first.
	unknown    *WorkLimitError
	overworked []*compiledRule
	// warn receives ratcheted errors. If it is nil, they are passed to k8s.io/apiserver/pkg/warning.
	warn func(string)
	// unratcheted is set if false rules reject unchanged values as well.
	unratcheted bool
	// Rules that depend on paths in open do not run.
	open       *openPaths
	activation eval.Activation
	// steps lead from the root to the current node. They are formatted as a path only for errors.
	steps []step
	// frames is empty on create and without ratcheting.
	frames frames
}

type step struct {
	kind stepKind
	name string // of a field, or a map's key
	at   int    // index of a list
}

type stepKind uint8

const (
	stepField stepKind = iota
	stepKey
	stepIndex
)

// run reuses the memory of an earlier run, if possible. done releases it.
func (r *Rules) run(ctx context.Context, budget int64, t *tally) *run {
	p, ok := r.passes.Get().(*run)
	if !ok {
		p = new(run)
	}
	p.ctx, p.rules, p.budget, p.tally = ctx, r, budget, t
	p.activation.ShareWork(workPerObject)
	return p
}

func (r *run) done() {
	if r.bug != nil {
		return // its state is undefined after a panic
	}
	r.activation.Unbind()
	if len(r.frames) > 0 { // the root's frame remains until the end
		clear(r.frames[:cap(r.frames)])
	}
	r.steps, r.frames = r.steps[:0], r.frames[:0]
	r.ctx, r.path, r.findings, r.tally, r.unknown, r.overworked, r.warn, r.running, r.cost = nil, nil, nil, nil, nil, nil, nil, nil, 0
	r.textSize, r.warned, r.unratcheted, r.open = 0, 0, false, nil
	r.rules.passes.Put(r)
}

func (r *run) root(path *field.Path, obj, old any) {
	if r.rules.root == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			r.recordInternalError(p)
		}
	}()
	r.path = path
	old = nilIfEmpty(old)
	if old != nil && r.rules.ratchet && !r.unratcheted {
		r.frames = append(r.frames, frame{parent: noFrame, correlated: true, schema: r.rules.schema, obj: obj, old: old})
	}
	r.node(r.rules.root, obj, old)
}

func (r *run) recordInternalError(p any) {
	var rule *RuleRef
	if r.running != nil {
		rule = &r.running.ref
	}
	r.bug, r.budget = bugOf(rule, p), -1
}

// nilIfEmpty converts typed nils of Go callers to nil.
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

func (r *run) node(n *ruleNode, obj, old any) {
	if obj == nil {
		return // null values of nullable nodes have no rules
	}
	if len(n.rules) > 0 || n.noType != nil {
		r.rulesAt(n, obj, nilIfEmpty(old))
	}
	for _, sub := range n.allOf {
		if r.budget < 0 {
			return
		}
		r.allOf(sub, obj, old)
	}
	if r.budget < 0 {
		return
	}
	switch obj := obj.(type) {
	case []any:
		if old, _ := old.([]any); r.worksOn(n.items, len(old)) {
			r.items(n, obj, old)
		}
	case map[string]any:
		old, _ := old.(map[string]any)
		if old != nil && !structural.MapIsCorrelatable(n.decl.Schema.XMapType) {
			old = nil
		}
		if r.worksOn(n.values, len(old)) {
			r.entries(n.values, obj, old)
		}
		r.fields(n, obj, old)
	}
}

// worksOn reports whether n must be visited. olds is the number of old values. If it is 0, a node with only
// transition rules is skipped, unless the budget is spent: the server then reports that even at nodes whose rules
// would not run.
func (r *run) worksOn(n *ruleNode, olds int) bool {
	return n != nil && !(n.transition && olds == 0 && r.budget > 0)
}

func (r *run) allOf(sub *ruleNode, obj, old any) {
	if len(r.frames) == 0 {
		r.node(sub, obj, old)
		return
	}
	r.frames = append(r.frames, r.frames.allOf())
	r.node(sub, obj, old)
	r.frames = r.frames[:len(r.frames)-1]
}

func (r *run) items(n *ruleNode, obj, old []any) {
	byKey := newOldList(n.decl.Schema, old)
	at := len(r.steps)
	r.steps = append(r.steps, step{kind: stepIndex})
	for i, item := range obj {
		if r.budget < 0 {
			break
		}
		r.steps[at].at = i
		oldItem := byKey.Get(item)
		if len(r.frames) == 0 {
			r.node(n.items, item, oldItem)
			continue
		}
		r.frames = append(r.frames, r.frames.item(item, oldItem))
		r.node(n.items, item, oldItem)
		r.frames = r.frames[:len(r.frames)-1]
	}
	r.steps = r.steps[:at]
}

// entries visits map entries in sorted order. Upstream uses the order of a Go map.
func (r *run) entries(values *ruleNode, obj, old map[string]any) {
	at := len(r.steps)
	r.steps = append(r.steps, step{kind: stepKey})
	for _, key := range slices.Sorted(maps.Keys(obj)) {
		if r.budget < 0 {
			break
		}
		r.steps[at].name = key
		r.entry(values, key, obj[key], old[key])
	}
	r.steps[at].name = "" // do not retain the object's key beyond the run
	r.steps = r.steps[:at]
}

func (r *run) fields(n *ruleNode, obj, old map[string]any) {
	if len(obj) == 0 || len(n.fields) == 0 {
		return
	}
	at := len(r.steps)
	r.steps = append(r.steps, step{kind: stepField})
	for i := range n.fields {
		field := &n.fields[i]
		if !r.worksOn(field.node, len(old)) {
			continue
		}
		v := obj[field.name]
		if v == nil {
			continue
		}
		if r.budget < 0 {
			break
		}
		r.steps[at].name = field.name
		r.entry(field.node, field.name, v, old[field.name])
	}
	r.steps = r.steps[:at]
}

func (r *run) entry(n *ruleNode, name string, obj, old any) {
	if len(r.frames) == 0 {
		r.node(n, obj, old)
		return
	}
	r.frames = append(r.frames, r.frames.field(name, n.schema))
	r.node(n, obj, old)
	r.frames = r.frames[:len(r.frames)-1]
}

func (r *run) rulesAt(n *ruleNode, obj, old any) {
	if n.noType != nil {
		r.add(finding{err: r.invalid(n, "", "rule compiler initialization error: "+n.noType.Error())})
		return
	}
	at := ruleTarget{node: n, obj: obj, old: old}
	if r.budget <= 0 {
		r.stop(finding{r.invalid(n, "", outOfBudget), nil, CauseOutOfBudget})
		return
	}
	if n.usesOld {
		r.activation.BindOld(n.decl, obj, old)
	} else {
		r.activation.Bind(n.decl, obj)
	}
	for _, rule := range n.rules {
		if r.open != nil && r.open.blocks(rule, r.here("")) {
			if rule.fieldPath != "" {
				return // later errors at this node may be reported below this path
			}
			continue
		}
		r.rule(rule, &at)
		if r.tally != nil {
			r.tally.reportRun()
		}
		if r.budget < 0 {
			return
		}
	}
}

type ruleTarget struct {
	node     *ruleNode
	obj, old any
	// leaked is the fieldPath below which errors are reported because of earlier rules.
	leaked string
}

func (r *run) rule(rule *compiledRule, at *ruleTarget) {
	if rule.compileErr != "" {
		r.add(finding{err: r.invalid(at.node, at.leaked, "rule compile error: "+rule.compileErr), rule: rule})
		return
	}
	if rule.expr == nil {
		return // an empty rule
	}
	if rule.isTransition() && at.old == nil || r.overworked != nil && slices.Contains(r.overworked, rule) {
		return
	}
	r.running = rule
	r.activation.SetOptional(rule.ref.OptionalOldSelf)
	out := rule.expr.Run(r.ctx, &r.activation)
	r.tally.ran(r, rule, at, &out)
	if !r.spend(out.Cost) {
		r.stop(finding{r.invalid(at.node, at.leaked, outOfBudget), rule, CauseOutOfBudget})
		return
	}
	switch {
	case out.Stopped:
		detail := "'" + out.Err.Error() + "': no further validation rules will be run due to call cost exceeds limit for rule: " + rule.text()
		r.stop(finding{err: r.invalid(at.node, at.leaked, detail), rule: rule})
	case out.Err != nil && r.giveUp(rule, rulePart, out.Err):
	case out.Err != nil:
		r.add(finding{err: r.invalid(at.node, at.leaked, runtimeError(out.Err, rule)), rule: rule})
	case out.False():
		r.reject(rule, at)
	}
}

// workPerObject is the work limit for all evaluations of one object.
const workPerObject = 2 * eval.MaxWork

func (r *run) spend(cost uint64) bool {
	r.cost += int64(min(cost, uint64(math.MaxInt64-r.cost)))
	if cost > math.MaxInt64 || int64(cost) > r.budget {
		return false
	}
	r.budget -= int64(cost)
	return true
}
