package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/x/expr"
)

// How it works: the API server does not run rules if an earlier check finds, for example, a missing
// field or a wrong type. Users then fix one error and see the next. Following runs those rules
// whose result cannot depend on how the errors are fixed. Paths determine that: a fix may change
// the value at the path of a cause, and everything below it. A rule is unaffected if neither its
// own value, nor a list or map that contains it, nor a field that it reads is at, above, or below
// such a path. On an update, ratcheting compares the whole value of a rule with its old value, and
// items are matched by their keys, so then nothing in them may be affected.

// Following returns the causes that rules add to a rejection once its causes are fixed, by valid
// values at their paths. It only considers rules that do not depend on these values. It returns nil
// if all rules ran before the rejection, or if it cannot determine these causes. The error is as
// for Prepared.RunRules.
func (r *Result) Following(ctx context.Context) (causes []Cause, err error) {
	defer catch(&causes, &err)
	skipped := func(c Cause) bool { return c.Kind == CauseRulesSkipped }
	if r.Prepared == nil || len(r.Causes) >= maxFindings || !slices.ContainsFunc(r.Causes, skipped) {
		return nil, nil
	}
	var open openPaths
	for _, c := range r.Causes {
		if skipped(c) {
			continue
		}
		if c.Field == "<nil>" {
			return nil, nil // only the message names the path
		}
		open.paths = append(open.paths, flatPath(c.Field))
	}
	p := r.Prepared
	open.update = p.Old != nil
	run, err := p.run(ctx, nil, &open)
	defer run.done()
	if err != nil || run.budget < p.budget/2 { // with the other rules, the budget may not suffice
		return nil, err
	}
	return p.version.rules().server.causes(run.findings), nil
}

// Unaffected returns the causes that do not depend on the values at paths. They remain even if
// these values change.
func (p *Prepared) Unaffected(causes []Cause, paths []string) (rest []Cause) {
	open := &openPaths{update: p.Old != nil}
	for _, path := range paths {
		open.paths = append(open.paths, flatPath(path))
	}
	for _, c := range causes {
		affected := open.affect(flatPath(c.Field))
		if rule := p.version.rules().root.find(c.Rule); rule != nil {
			affected = open.blocks(rule, valuePath(&c))
		}
		if !affected {
			rest = append(rest, c)
		}
	}
	return rest
}

// valuePath returns the path of the value of a rule that failed, without the rule's fieldPath, or "" if the path is
// not known.
func valuePath(c *Cause) string {
	steps, err := ParsePath(c.Field)
	schemaSteps, err2 := ParsePath(c.Rule.Path)
	if err != nil || err2 != nil || len(schemaSteps) > len(steps) {
		return ""
	}
	return FormatPath(steps[:len(schemaSteps)])
}

func (n *ruleNode) find(ref *RuleRef) *compiledRule {
	if n == nil || ref == nil {
		return nil
	}
	for _, rule := range n.rules {
		if rule.ref == *ref {
			return rule
		}
	}
	for sub := range n.below() {
		if rule := (*sub).find(ref); rule != nil {
			return rule
		}
	}
	return nil
}

type openPaths struct {
	paths  []string // flat, see flatPath
	update bool
	reads  map[*compiledRule][]string
}

// blocks reports whether the result of a rule may depend on an open path.
func (o *openPaths) blocks(rule *compiledRule, path string) bool {
	at := flatPath(path)
	if o.update {
		if i := strings.IndexByte(path, '['); i >= 0 {
			at = flatPath(path[:i]) // the keys of items determine their old values
		}
		return o.affect(at)
	}
	for _, read := range o.readsOf(rule) {
		if o.affect(strings.Trim(at+"."+read, ".")) {
			return true
		}
	}
	return slices.ContainsFunc(o.paths, func(open string) bool { return within(at, open) })
}

func (o *openPaths) affect(path string) bool {
	return slices.ContainsFunc(o.paths, func(open string) bool { return within(path, open) || within(open, path) })
}

func (o *openPaths) readsOf(rule *compiledRule) []string {
	if paths, ok := o.reads[rule]; ok {
		return paths
	}
	var paths []string
	reads := expr.Reads(rule.spec.Rule)
	if rule.message != nil {
		reads = append(reads, expr.Reads(rule.spec.MessageExpression)...)
	}
	for _, read := range reads {
		paths = append(paths, flatPath(strings.Join(read, ".")))
	}
	if o.reads == nil {
		o.reads = map[*compiledRule][]string{}
	}
	o.reads[rule] = paths
	return paths
}

// flatPath returns a path with a dot between steps, without brackets and quotes. The API server formats the keys of
// maps in several ways, so keys that contain dots become several steps. The root is "".
func flatPath(path string) string {
	if path == "<nil>" {
		return ""
	}
	return strings.Trim(flattening.Replace(path), ".")
}

var flattening = strings.NewReplacer("[", ".", "]", "", "'", "", `"`, "")

func within(path, outer string) bool {
	return outer == "" || path == outer || strings.HasPrefix(path, outer) && path[len(outer)] == '.'
}
