package policyvet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// How it works: the API server evaluates expressions without types, so not every type error matters. An
// error is harmless if its part of the expression is not evaluated for objects of the kind, as in
// object.kind != 'Pod' || object.spec.containers.size() > 0, if a schema accepts unknown fields there, or
// if a function takes the values that are there without types (overloads.go). A test of a field, such as
// has(object.spec.template), is harmless unless no kind has the field, or a validation is never true for the kind.

type typeErrors struct {
	subject *subject
	kinds   []*kind // that were checked
	issues  map[*expression][]kindIssue
	// tests counts the kinds that lack a field which an expression tests.
	tests map[node]int
}

// A kindIssue is the type errors of an expression for a kind.
type kindIssue struct {
	kind   matchedKind
	text   string
	offset int  // of the first error that is not harmless, or else of the first test, or else of the first error
	at     node // of the error at offset, unless that is harmless and no test
	// real is set if an error is not harmless. tests holds tests of fields that the kind lacks. never is set if there are
	// only tests, and the validation is never true.
	real, never bool
	tests       []node
}

// objectTypeName is the name of the type of object in the errors of celenv.
const objectTypeName = "objectType000000000"

// add returns the number of expressions with errors.
func (t *typeErrors) add(k matchedKind, list []policy.TypedExpression) (n int) {
	t.kinds = append(t.kinds, k.kind)
	var reached map[node]bool
	for _, typed := range list {
		if typed.Issues == "" {
			continue
		}
		n++
		x := t.subject.at(typed.Path)
		if x == nil || x.tree == nil {
			continue
		}
		if reached == nil {
			reached = t.subject.reachedFor(k.kind)
		}
		issue := kindIssue{kind: k, text: strings.ReplaceAll(typed.Issues, objectTypeName, k.Kind)}
		if len(typed.Errors) > 0 {
			issue.offset = typed.Errors[0].Offset
		}
		for _, e := range typed.Errors {
			at := node{x, e.Node}
			switch {
			case !reached[at] || slices.ContainsFunc(t.subject.paths[at], func(path string) bool { return k.resolve(path).state == fieldUnknown }):
			case t.subject.tests[at]:
				if t.tests[at]++; !issue.real && len(issue.tests) == 0 {
					issue.at, issue.offset = at, e.Offset
				}
				issue.tests = append(issue.tests, at)
			case fails(e.Message):
				if !issue.real {
					issue.real, issue.at, issue.offset = true, at, e.Offset
				}
			}
		}
		issue.never = !issue.real && len(issue.tests) > 0 && x.Part == policy.PartValidation && t.subject.neverTrue(k.kind, x)
		t.issues[x] = append(t.issues[x], issue)
	}
	return n
}

// warnings returns the warnings for an expression. Kinds with the same errors share a warning. An error that only
// kinds matched by "*" in a group or version have must be in every kind.
func (t *typeErrors) warnings(x *expression) (all []Warning) {
	list := t.issues[x]
	if len(list) < len(t.kinds) && !slices.ContainsFunc(list, func(i kindIssue) bool { return i.kind.explicit }) {
		return nil
	}
	var order []*Warning
	groups := map[string]*Warning{}
	for _, i := range list {
		harmless := !i.real && !i.never && !slices.ContainsFunc(i.tests, func(at node) bool { return t.tests[at] == len(t.kinds) })
		if harmless && x.Part != policy.PartValidation && x.Part != policy.PartMessage {
			continue // the server does not report it
		}
		key := fmt.Sprint(i.never, i.text)
		w := groups[key]
		if w == nil {
			w = &Warning{Path: x.Path, Expression: x.Source, Message: i.text, Harmless: true, never: i.never}
			w.Offset, w.Hint = i.offset, t.divided(&i)
			if w.Hint != "" && []rune(x.Source)[w.Offset] == '.' {
				w.Offset++ // the name of the field
			}
			groups[key], order = w, append(order, w)
		}
		w.kinds, w.Harmless = append(w.kinds, i.kind.kind), w.Harmless && harmless
	}
	for _, w := range order {
		if w.Message = shownKinds(w.kinds) + ": " + w.Message; w.never && w.Hint != "" {
			w.Hint += ", so the validation is never true for " + shownKinds(w.kinds)
		}
		all = append(all, *w)
	}
	return all
}

// divided names the kinds that have the field of an error, and the kinds that lack it, or returns "".
func (t *typeErrors) divided(i *kindIssue) string {
	paths := t.subject.paths[i.at]
	if len(paths) != 1 {
		return ""
	}
	var have, lack []*kind
	for _, k := range t.kinds {
		switch k.resolve(paths[0]).state {
		case fieldDeclared, mapKey:
			have = append(have, k)
		case fieldUndeclared:
			lack = append(lack, k)
		}
	}
	if len(have) == 0 || len(lack) == 0 {
		return ""
	}
	hint := fmt.Sprintf("%s is a field of %s, but not of %s", shownPath(paths[0]), shownKinds(have), shownKinds(lack))
	if i.real {
		hint += ": test it with has()"
	}
	return hint
}

const maxShownKinds = 10

func shownKinds(kinds []*kind) string {
	var names []string
	for _, k := range kinds[:min(len(kinds), maxShownKinds)] {
		names = append(names, k.String())
	}
	if more := len(kinds) - maxShownKinds; more > 0 {
		names = append(names, phrase.Count(more, "more kind"))
	}
	return strings.Join(names, "; ")
}

func (s *subject) at(path string) *expression {
	i := slices.IndexFunc(s.expressions, func(x *expression) bool { return x.Path == path })
	if i < 0 {
		return nil
	}
	return s.expressions[i]
}

func (s *subject) evaluatorFor(k *kind, null string) *evaluator {
	n := newEvaluator(s, null, map[string]string{
		"object.kind": k.Kind, "oldObject.kind": k.Kind, "object.apiVersion": k.GroupVersion().String(), "oldObject.apiVersion": k.GroupVersion().String(),
		"request.kind.kind": k.Kind, "request.kind.group": k.Group, "request.kind.version": k.Version,
		"request.resource.resource": k.resource, "request.resource.group": k.Group, "request.resource.version": k.Version,
	})
	n.kind = k
	return n
}

func (s *subject) neverTrue(k *kind, x *expression) bool {
	return !slices.ContainsFunc([]string{"", objectName, oldObjectName}, func(null string) bool {
		return s.evaluatorFor(k, null).top(x).set&isTrue != 0
	})
}

// reachedFor returns the parts of expressions that may be evaluated for objects of a kind.
func (s *subject) reachedFor(k *kind) map[node]bool {
	n := s.evaluatorFor(k, "")
	for _, x := range s.expressions {
		if x.Part == policy.PartCondition && x.tree != nil && n.top(x).set == isFalse {
			return n.reached() // the policy is skipped
		}
	}
	for _, x := range s.expressions {
		if x.Part != policy.PartCondition && x.Part != policy.PartVariable && x.tree != nil {
			n.top(x)
		}
	}
	return n.reached()
}
