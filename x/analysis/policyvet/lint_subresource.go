package policyvet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
)

// How it works: the object in a request to a subresource can be of another kind than the resource, such as a Scale,
// an Eviction, or a PodExecOptions. An expression that reads a field which this kind does not declare fails for each
// request, unless it tests for the field or for the subresource. OpenAPI has no schemas of the options of connections.

// A subresourceRequest is a request to a subresource whose objects are of a kind of their own.
type subresourceRequest struct {
	resource, subresource string
	group                 string // of the resource
	kind                  schema.GroupVersionKind
}

// connectionAbsent lists fields that the options of connections do not have.
var connectionAbsent = []string{objectName + ".metadata", objectName + ".spec", objectName + ".status"}

var operations = map[string]string{"Scale": "UPDATE", "Eviction": "CREATE", "Binding": "CREATE", "TokenRequest": "CREATE"}

// operation returns the operation of requests, or "" if it is not known.
func (q *subresourceRequest) operation() string {
	if strings.HasSuffix(q.kind.Kind, "Options") {
		return "CONNECT"
	}
	return operations[q.kind.Kind]
}

func (l *linter) subresourceObjects(s *subject, bindings []*bindingDocument, add reporter) {
	reported := map[*expression]bool{}
	if selects(&s.match) {
		return // such objects have no labels, as a rule
	}
	for _, q := range l.subresourceRequests(&s.match) {
		if len(bindings) > 0 && !slices.ContainsFunc(bindings, q.isBound) {
			continue
		}
		n := l.requestEvaluator(s, &q)
		for _, x := range s.failingIn(n) {
			if reported[x] {
				continue
			}
			missing := func(r read) bool { return !r.test && n.missing(r.path) != "" }
			i := slices.IndexFunc(s.reads, func(r read) bool { return r.of == x && missing(r) })
			at := x.at(nil)
			if i >= 0 {
				at = x.at(s.reads[i].at)
			} else {
				used := s.used(func(e *expression) bool { return e == x })
				if i = slices.IndexFunc(s.reads, func(r read) bool { return used[r.of] && missing(r) }); i < 0 { // in a variable
					continue
				}
			}
			reported[x] = true
			root, field, _ := strings.Cut(n.missing(s.reads[i].path), ".")
			use := "test it with has(), or write another policy for " + q.resource
			if field == "metadata" {
				use = "use request.name and request.namespace"
			}
			add(subresourceObject, at, fmt.Sprintf(
				"in requests to %s/%s, %s is %s %s, which has no %s, so the expression fails: %s",
				q.resource, q.subresource, root, article(q.kind.Kind), q.kind.Kind, shownPath(field), use))
		}
	}
}

func selects(m *matchResources) bool {
	s := m.ObjectSelector
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0
}

func (q *subresourceRequest) isBound(b *bindingDocument) bool {
	m := b.Spec.MatchResources
	return m == nil || !selects(m) && !m.excludesRequest(q) &&
		(len(m.ResourceRules) == 0 || m.matchesResource(q.operation(), q.group, q.resource, q.subresource))
}

func article(noun string) string {
	if strings.ContainsRune("AEIOU", rune(noun[0])) {
		return "an"
	}
	return "a"
}

// failingIn returns the expressions that can fail, or nil if the policy is skipped.
func (s *subject) failingIn(n *evaluator) (failing []*expression) {
	for _, x := range s.expressions {
		switch {
		case x.tree == nil || x.Part == policy.PartVariable || x.Part == policy.PartMessage:
		case x.Part == policy.PartCondition && (n.top(x).set == isFalse || n.top(x).set != isTrue && readsRequest(x)):
			return nil
		case n.top(x).set&isError != 0:
			failing = append(failing, x)
		}
	}
	return failing
}

// readsRequest reports whether a condition reads the request. If its result is not known, it can exclude a subresource.
func readsRequest(x *expression) (does bool) {
	visit(x.tree, func(e ast.Expr) { does = does || e.Kind() == ast.IdentKind && e.AsIdent() == "request" })
	return does
}

// subresourceRequests returns the requests that m matches, in the order of its rules.
func (l *linter) subresourceRequests(m *matchResources) (list []subresourceRequest) {
	for i := range m.ResourceRules {
		r := &m.ResourceRules[i]
		for _, item := range r.Resources {
			resource, sub := split(item)
			for _, k := range l.schemas.byResource[resource] {
				if !has(r.APIGroups, k.Group) || !has(r.APIVersions, k.Version) {
					continue
				}
				for _, name := range slices.Sorted(maps.Keys(k.subresources)) {
					q := subresourceRequest{resource, name, k.Group, k.subresources[name]}
					hasKind := (sub == name || sub == all) && q.kind != k.GroupVersionKind && q.operation() != ""
					isMatched := hasKind && has(r.Operations, q.operation()) && !m.excludesRequest(&q)
					if isMatched && !slices.Contains(list, q) {
						list = append(list, q)
					}
				}
			}
		}
	}
	return list
}

func (m *matchResources) excludesRequest(q *subresourceRequest) bool {
	return slices.ContainsFunc(m.ExcludeResourceRules, func(r rule) bool {
		return len(r.ResourceNames) == 0 && has(r.Operations, q.operation()) &&
			r.matchesResource(q.group, q.resource, q.subresource)
	})
}

func (l *linter) requestEvaluator(s *subject, q *subresourceRequest) *evaluator {
	null := oldObjectName
	if q.operation() == "UPDATE" {
		null = ""
	}
	n := newEvaluator(s, null, map[string]string{
		"request.operation": q.operation(), "request.subResource": q.subresource,
		"request.resource.resource": q.resource, "request.resource.group": q.group,
		"request.requestSubResource": q.subresource, "request.requestResource.resource": q.resource, "request.requestResource.group": q.group,
		"request.kind.kind": q.kind.Kind, "request.kind.group": q.kind.Group, "request.kind.version": q.kind.Version,
		"request.requestKind.kind": q.kind.Kind, "request.requestKind.group": q.kind.Group,
		"object.kind": q.kind.Kind, "object.apiVersion": q.kind.GroupVersion().String(),
	})
	if k := l.schemas.byName[q.kind]; l.schemas.declare(k) != nil {
		n.kind, n.strict = k, true
	} else {
		n.absent = connectionAbsent
	}
	return n
}

// missing returns the beginning of a path that ends in the first field which the objects of the request lack, or "".
func (n *evaluator) missing(path string) string {
	if below(path, paramsName) {
		return ""
	}
	for _, absent := range n.absent {
		if below(path, absent) {
			return absent
		}
	}
	steps := strings.Split(path, ".")
	for i := 2; i <= len(steps) && n.strict; i++ {
		if at := strings.Join(steps[:i], "."); n.kind.resolve(at).state == fieldUndeclared {
			return strings.TrimRight(at, "[]")
		}
	}
	return ""
}
