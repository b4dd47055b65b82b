package policyvet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// A subresource is a subresource whose requests change fields of the main object.
type subresource struct {
	name string
	// operations lists the operations on the main resource. A policy that matches one of them needs to match the
	// subresource.
	operations []string
	// reads reports whether a read depends on a field that requests for the subresource change.
	reads func(read) bool
	since int
}

var subresources = []subresource{
	{"ephemeralcontainers", []string{"CREATE", "UPDATE"}, func(r read) bool { return below(r.path, "object.spec.ephemeralContainers") }, 25},
	{"resize", []string{"CREATE", "UPDATE"}, func(r read) bool { return !r.test && resources.MatchString(r.path) }, 33},
	{"scale", []string{"UPDATE"}, func(r read) bool { return !r.test && r.path == "object.spec.replicas" }, 0},
}

func below(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

var resources = lazy.New(`^object\.spec\.(c|initC)ontainers\[]\.resources\.(limits|requests)\.`)

// missedSubresources reports fields that a policy checks although requests for a subresource, which it
// does not match, can change them.
func (l *linter) missedSubresources(s *subject, add reporter) {
	for _, sub := range subresources {
		at := slices.IndexFunc(s.reads, sub.reads)
		if at < 0 || l.version.Minor < sub.since {
			continue
		}
		var missed []string
		for name, kinds := range l.schemas.byResource {
			if slices.ContainsFunc(kinds, func(k *kind) bool { return l.misses(s, k, &sub) }) {
				missed = append(missed, name+"/"+sub.name)
			}
		}
		if slices.Sort(missed); len(missed) > 0 {
			r := s.reads[at]
			add(missedSubresource, r.of.at(r.at), fmt.Sprintf("%s can change %s, but the policy does not match UPDATE of %s: add it to the resources of a rule, or write another policy for it",
				missed[0], strings.TrimPrefix(r.path, "object."), strings.Join(missed, ", ")))
		}
	}
}

// misses reports whether s matches a kind but not its subresource, and no other policy checks the field there.
func (l *linter) misses(s *subject, k *kind, sub *subresource) bool {
	if _, ok := k.subresources[sub.name]; !ok || !slices.ContainsFunc(sub.operations, func(op string) bool { return s.match.names(op, k) }) {
		return false
	}
	return !slices.ContainsFunc(l.subjects, func(other *subject) bool {
		return other.match.matchesResource("UPDATE", k.Group, k.resource, sub.name) && (other == s || slices.ContainsFunc(other.reads, sub.reads))
	})
}

func (m *matchResources) names(operation string, k *kind) bool {
	return slices.ContainsFunc(m.ResourceRules, func(r rule) bool {
		return has(r.Operations, operation) && has(r.APIGroups, k.Group) && slices.Contains(r.Resources, k.resource)
	})
}

// unguardedReads reports optional fields that no expression tests, once for each expression.
func (l *linter) unguardedReads(s *subject, add reporter) {
	name, effect := unguardedRead, "the request is denied with an error instead of the message"
	if s.ignore {
		name, effect = ignoredError, "failurePolicy: Ignore accepts the object"
	}
	tested, seen, alternatives := s.tested(), map[string]bool{}, s.alternatives()
	kinds, _ := l.schemas.matched(&s.match)
	params := l.schemas.byName[s.params]
	for _, x := range s.expressions {
		var fields []string
		var at Lint
		shown := ""
		for _, r := range s.reads {
			isImplied := tested[r.path] || alternatives[parentOf(r.path)+".*"] || alternatives[r.path]
			if r.of != x || r.test || isImplied || seen[r.path] || x.Part == policy.PartMessage {
				continue
			}
			if of := l.lacking(kinds, params, r.path); of != "" && (shown == "" || shown == of) {
				if shown == "" {
					at, shown = x.at(r.at), of
				}
				seen[r.path] = true
				fields = append(fields, shownPath(r.path))
			}
		}
		switch {
		case len(fields) == 1:
			add(name, at, fmt.Sprintf("%s is optional in %s and is read without has(): "+
				"if it is absent, the expression fails, and %s; test it with has()", fields[0], shown, effect))
		case len(fields) > 1:
			add(name, at, fmt.Sprintf("%s are optional in %s and are read without has(): "+
				"if one is absent, the expression fails, and %s; test them with has()", listed(fields), shown, effect))
		}
	}
}

var typeTests = []string{operators.Equals, operators.NotEquals, operators.In}

// alternatives returns the paths of fields that a comparison with a string can imply: a field next to a type, for which it
// returns the path of the parent with .*, or the namespace next to a kind, as in
// subject.kind == 'ServiceAccount' && subject.namespace == 'a'.
func (s *subject) alternatives() map[string]bool {
	paths := map[string]bool{}
	for _, x := range s.expressions {
		if x.tree == nil {
			continue
		}
		visit(x.tree, func(e ast.Expr) {
			if e.Kind() != ast.CallKind || !slices.Contains(typeTests, e.AsCall().FunctionName()) {
				return
			}
			for i, side := range e.AsCall().Args() {
				other := e.AsCall().Args()[1-i]
				_, isLiteral := text(other)
				isLiteral = isLiteral || other.Kind() == ast.ListKind
				for _, path := range s.paths[node{x, side.ID()}] {
					switch parent := parentOf(path); {
					case !isLiteral || !strings.Contains(parent, "."):
					case path == parent+".type":
						paths[parent+".*"] = true
					case path == parent+".kind":
						paths[parent+".namespace"] = true
					}
				}
			}
		})
	}
	return paths
}

func parentOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// maxFields limits the fields in a message.
const maxFields = 3

func listed(fields []string) string {
	if more := len(fields) - maxFields; more > 0 {
		fields = append(slices.Clone(fields[:maxFields]), phrase.Count(more, "more field"))
	}
	last := len(fields) - 1
	return strings.Join(fields[:last], ", ") + " and " + fields[last]
}

// lacking returns the name of the first kind whose objects may lack the field at a path, or "".
func (l *linter) lacking(kinds []matchedKind, params *kind, path string) string {
	if below(path, paramsName) {
		if l.schemas.declare(params) != nil && !params.builtIn && params.mayLack(path) && params.resolve(path).state == fieldDeclared &&
			params.resolve(parentOf(path)+".type").state != fieldDeclared { // the type can imply the field
			return params.Kind
		}
		return ""
	}
	for _, k := range kinds {
		if l.schemas.declare(k.kind) != nil && k.mayLack(path) && !l.sets(k.kind, path) {
			return k.shown
		}
	}
	return ""
}

func (s *subject) tested() map[string]bool {
	tested := map[string]bool{}
	for _, r := range s.reads {
		tested[r.path] = tested[r.path] || r.test
	}
	return tested
}

// validated matches fields of built-in kinds that are always there, although the schemas do not require them.
var validated = lazy.New(`(\.spec|\.template|ontainers\[]\.image)$`)

// mayLack reports whether the field at a path may be missing in an object that has the fields above it.
// It returns false if the schema does not declare the field.
func (k *kind) mayLack(path string) bool {
	if k.builtIn && validated.MatchString(path) {
		return false
	}
	f := k.resolve(path)
	switch f.state {
	case mapKey:
		return true
	case fieldDeclared:
		return !k.always(&f)
	}
	return false
}
