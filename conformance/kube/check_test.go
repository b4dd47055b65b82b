package kube

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

// canCheck reports whether celadon check --policy can express a request. It has no options, and no UID and extra fields
// of users. It has no dry runs either, which only the scene named options can distinguish.
func canCheck(scene *exchange.Scene, r *exchange.Request) bool {
	return len(r.Options) == 0 && !(r.DryRun && scene.Name == "options") && r.User.UID == "" && len(r.User.Extra) == 0
}

// A checked is the result of celadon check --policy for a request. Any of the denials may come first in the server.
type checked struct {
	exchange.Prediction
	undecided     string
	structureOnly bool
}

func (c *checked) difference(e *exchange.Exchange) string {
	want := e.Answer
	want.Object = nil // not in the report
	if e.Request.Resource == "customresourcedefinitions" && c.structureOnly {
		return "" // see conformance/differences.md
	}
	if strings.HasPrefix(e.Request.APIVersion, "rbac.") && (strings.Contains(want.Message, "role reference kind") || strings.Contains(want.Message, "not currently held")) {
		return "" // as above: the user may not grant the role
	}
	return exchange.Difference(&e.Request, want, &c.Prediction)
}

type report struct {
	Objects []struct {
		Verdict, Problem string
		StructureOnly    bool
		Status           *struct {
			Code            int32
			Reason, Message string
		}
		Causes           []struct{ Reason, Field, Message string }
		Warnings         []string
		AuditAnnotations map[string]string
		Policies         []struct{ Policy, Binding, Action, Reason, Message string }
		Webhooks         []struct {
			Webhook string
			Called  bool
		}
	}
}

// check runs one process for requests that differ only in their objects.
func (s *stage) check(scene *exchange.Scene, list []exchange.Exchange) []checked {
	s.t.Helper()
	var crds, policies []exchange.Object
	for _, doc := range scene.Documents {
		if doc["kind"] == "CustomResourceDefinition" {
			crds = append(crds, doc)
		} else {
			policies = append(policies, doc)
		}
	}
	files := []string{"--crd", s.list("crds.json", crds), "--policy", s.list("policies.json", policies)}
	groups := map[string][]int{}
	for i := range list {
		args := encoded(s.checkArgs(&list[i].Request))
		groups[args] = append(groups[args], i)
	}
	results := make([]checked, len(list))
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		var args []string
		if err := json.Unmarshal([]byte(key), &args); err != nil {
			s.t.Fatal(err)
		}
		var objects, olds []exchange.Object
		for _, i := range groups[key] {
			object, old := s.checkObject(&list[i].Request)
			objects = append(objects, object)
			same := func(o exchange.Object) bool { return dig(o, "metadata", "uid") == dig(old, "metadata", "uid") }
			if old != nil && !slices.ContainsFunc(olds, same) {
				olds = append(olds, old)
			}
		}
		args = append(append([]string{"check", "-o", "json", "--validate", "warn"}, args[1:]...), files...)
		if len(olds) > 0 {
			args = append(args, "--old", s.list("olds.json", olds))
			if !slices.Contains(args, "--subresource") { // a request replaces the old object
				args = append(args, "--apply", "replace")
			}
		}
		out, _ := s.celadon("", append(args, s.list("objects.json", objects))...)
		var r report
		if err := json.NewDecoder(strings.NewReader(out)).Decode(&r); err != nil || len(r.Objects) != len(objects) {
			s.t.Fatalf("%v %v: %s", err, args, out)
		}
		for i, of := range groups[key] {
			results[of] = r.result(i)
		}
	}
	return results
}

// checkArgs returns a key, followed by the flags for a request. The key keeps requests apart whose object would
// change the results of others.
func (s *stage) checkArgs(r *exchange.Request) []string {
	args := []string{"", "--as", r.User.Name}
	for _, group := range r.User.Groups {
		args = append(args, "--as-group", group)
	}
	if r.Resource == "namespaces" { // which plugins read for the other objects
		args[0] = r.Name + encoded(r.Object)
	}
	switch {
	case r.Operation == policy.OperationDelete:
		args = append(args, "--operation", map[bool]string{false: "delete", true: "deletecollection"}[r.Collection])
	case r.Operation == policy.OperationUpdate && r.Subresource != "":
		args = append(args, "--subresource", r.Subresource)
	}
	return args
}

func (s *stage) checkObject(r *exchange.Request) (object, old exchange.Object) {
	s.t.Helper()
	switch {
	case r.Operation == policy.OperationDelete:
		return r.Old, nil
	case r.Operation == policy.OperationConnect:
		return merged(r.Object, exchange.Object{"metadata": exchange.Object{"name": r.Name, "namespace": r.Namespace}}).(exchange.Object), nil
	case r.Subresource == "scale":
		old := *r
		old.Subresource, old.Object = "", nil
		_, path, _ := s.message(&old)
		workload := s.get(path)
		return merged(workload, exchange.Object{"spec": r.Object["spec"]}).(exchange.Object), workload
	}
	return r.Object, r.Old
}

func (r *report) result(i int) (c checked) {
	o := r.Objects[i]
	c.Answer = exchange.Answer{Code: exchange.Accepted, Warnings: o.Warnings, Annotations: o.AuditAnnotations}
	for _, w := range o.Webhooks {
		if w.Called {
			c.Webhooks = append(c.Webhooks, w.Webhook)
		}
	}
	slices.Sort(c.Webhooks)
	c.structureOnly = o.StructureOnly
	if o.Status != nil {
		c.Code, c.Reason, c.Message = o.Status.Code, o.Status.Reason, o.Status.Message
		for _, cause := range o.Causes {
			c.Causes = append(c.Causes, fmt.Sprintf("%s %s %s", cause.Reason, cause.Field, cause.Message))
		}
	} else if o.Verdict != "valid" {
		c.undecided = o.Verdict + ": " + o.Problem
	}
	prefix, _, byPolicy := strings.Cut(c.Message, ": ValidatingAdmissionPolicy '")
	for _, cause := range o.Causes { // of mutating policies
		if strings.HasPrefix(cause.Message, "policy '") {
			one := c.Answer
			one.Message = cause.Message
			c.Denials = append(c.Denials, one)
		}
	}
	for _, p := range o.Policies {
		if p.Action != "Deny" || !byPolicy {
			continue
		}
		one := c.Answer
		by := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", p.Policy, p.Binding, p.Message)
		if p.Binding == "" {
			by = fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", p.Policy, p.Message)
		}
		if one.Reason = p.Reason; p.Reason == "" {
			one.Reason = "Invalid"
		}
		one.Code, one.Message, one.Causes = exchange.CodeOf(one.Reason), prefix+": "+by, []string{"  " + by}
		c.Denials = append(c.Denials, one)
	}
	return c
}

func (s *stage) list(name string, docs []exchange.Object) string {
	s.t.Helper()
	return s.write(name, encoded(exchange.Object{"apiVersion": "v1", "kind": "List", "items": docs}))
}

func (s *stage) compareCheck(t *testing.T, scene *exchange.Scene) (compared, undecided int) {
	t.Helper()
	list := slices.DeleteFunc(slices.Clone(scene.Exchanges), func(e exchange.Exchange) bool { return !canCheck(scene, &e.Request) })
	for i, got := range s.check(scene, list) {
		r := &list[i].Request
		if got.undecided != "" {
			undecided++
			t.Logf("undecided: %s %s/%s %s: %s", r.Operation, r.Resource, r.Subresource, r.Name, got.undecided)
			continue
		}
		compared++
		if diff := got.difference(&list[i]); diff != "" {
			t.Errorf("%s: %s %s/%s %s (-server +check):\n%s%s", scene.Name, r.Operation, r.Resource, r.Subresource, r.Name, diff, encoded(r.Object))
		}
	}
	return compared, undecided
}
