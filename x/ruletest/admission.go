package ruletest

import (
	"slices"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

const (
	opCreate  = "create"
	opUpdate  = "update"
	opDelete  = "delete"
	opConnect = "connect"

	opDeleteCollection = "deletecollection"
)

type admission struct {
	// operation is an operation, or "" if it depends on the object and the old object. collection is set for a deletion
	// whose request does not name the object.
	operation  string
	collection bool
	// params are params objects of the case. If isComplete is set, there are no others.
	params     []map[string]any
	isComplete bool
	namespace  map[string]any // nil if the case has no Namespace
	user       policy.User
}

func (r *reader) policyPaths(s *Suite, f field) {
	if !f.given() {
		return
	}
	s.PolicyPaths, s.PolicyPosition = r.texts(f), r.positionOf(f.key)
	switch {
	case len(s.PolicyPaths) == 0:
		r.addProblem(f.key, "policies: want at least one file or folder")
	case len(s.PolicyPaths) > maxPolicyPaths:
		r.addProblem(f.key, "%s", tooMany("policies", len(s.PolicyPaths), maxPolicyPaths))
		s.PolicyPaths = s.PolicyPaths[:maxPolicyPaths]
	case slices.Contains(s.PolicyPaths, ""):
		r.addProblem(f.key, "policies: a path is empty: want files or folders")
	}
}

func (r *reader) admission(s *Suite, b *own, c *Case, f []field, decoded map[string]any) {
	params, namespace, user, operation := f[0], f[1], f[2], f[3]
	a := &b.admission
	a.user = policyrequest.User("", nil)
	if len(s.PolicyPaths) == 0 {
		for _, f := range []field{params, namespace, user} {
			if f.given() && (f.key != namespace.key || !s.TestsBuiltins()) { // plugins read Namespaces as well
				r.addProblem(f.key, "%s: only policies see it: set policies in the suite", f.key.Value)
			}
		}
	}
	if params.given() {
		a.isComplete = true
		r.params(a, params, decoded)
	}
	a.namespace, _ = r.object(namespace, decoded)
	if user.given() {
		r.user(a, user)
	}
	if operation.given() {
		r.operation(s, b, c, operation)
	}
}

func (r *reader) params(a *admission, f field, decoded map[string]any) {
	items := r.items(f)
	if len(items) > maxParams {
		r.addProblem(f.key, "params: too many in one test (got %d, want at most %d)", len(items), maxParams)
		return
	}
	for i, item := range items {
		object, ok := entry(decoded[f.key.Value], i).(map[string]any)
		if !ok {
			r.addProblem(item, "params: want objects with apiVersion, kind, and metadata.name")
			continue
		}
		a.params = append(a.params, object)
	}
}

func (r *reader) user(a *admission, f field) {
	mark := len(r.problems)
	p := r.fields("user", f.value, "name", "groups", "extra")
	if len(r.problems) > mark {
		return
	}
	name := r.text(p[0])
	if name == "" {
		r.addProblem(f.key, "user: name is missing")
	}
	a.user = policyrequest.User(name, r.texts(p[1]))
	if !p[2].given() || p[2].null() {
		return
	}
	extra := p[2].value.Resolve()
	if extra.Kind != position.Mapping {
		r.addProblem(p[2].key, "extra: want a mapping with lists of strings")
		return
	}
	a.user.Extra = map[string][]string{}
	for i, key := range extra.Keys {
		if !key.IsMerge() {
			a.user.Extra[key.Value] = r.texts(field{key, extra.Items[i]})
		}
	}
}

func (r *reader) operation(s *Suite, b *own, c *Case, f field) {
	operation := r.text(f)
	if b.admission.collection = operation == opDeleteCollection; b.admission.collection {
		operation = opDelete
	}
	switch {
	case !slices.Contains([]string{opCreate, opUpdate, opDelete, opConnect}, operation):
		r.addProblem(f.key, "operation %q: want create, update, delete, deletecollection, or connect", operation)
		return
	case operation == opCreate && b.updated:
		r.addProblem(f.key, "operation create: a create has no old object: remove old and oldPatch")
	case operation != opUpdate && b.subresource != "":
		r.addProblem(f.key, "operation %s: a subresource can only be updated", operation)
	case operation == opConnect && b.updated:
		r.addProblem(f.key, "operation connect: a connection has no old object: remove old and oldPatch")
	case (operation == opDelete || operation == opConnect) && len(s.PolicyPaths) == 0:
		r.addProblem(f.key, "operation %s: only policies see it: set policies in the suite", operation)
	}
	b.admission.operation, c.Operation = operation, operation
}

func (r *reader) checkUse(s *Suite, b *own, f []field) {
	e := &b.expect
	switch {
	case e.decided && len(s.PolicyPaths) == 0:
		r.addProblem(f[6].key, "expect: policies: the suite has no policies")
	case b.admission.operation != opDelete:
	case e.object != nil:
		r.addProblem(f[6].key, "expect: object: a deleted object is not persisted")
	case e.costed:
		r.addProblem(f[6].key, "expect: maxCost: the rules of the CRD do not run on a deletion")
	case b.convert != "":
		r.addProblem(f[11].key, "convert: a deleted object is not converted")
	}
}
