package policies

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/policy"
)

// A Scenario is a generated set of policies with requests.
type Scenario struct {
	Documents []map[string]any
	Config    policy.Config
	Requests  []policy.Request
}

// NewScenario returns the scenario of a seed.
func NewScenario(seed uint64) *Scenario {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
	s := &Scenario{Config: policy.Config{Complete: true, Authorize: decide}}
	if g.IntN(4) == 0 {
		s.Config.Limits.PerObject = 1 + g.Int64N(120)
	}
	if g.IntN(6) == 0 {
		s.Config.MatchConditions = 1 + g.Int64N(60)
	}
	for i := range 1 + g.IntN(2) {
		s.Documents = append(s.Documents, g.policy(fmt.Sprintf("policy-%d", i)))
		for j := range 1 + g.IntN(2) {
			s.Documents = append(s.Documents, g.binding(fmt.Sprintf("binding-%d-%d", i, j), fmt.Sprintf("policy-%d", i)))
		}
	}
	s.Documents = append(s.Documents, g.namespace("ns"), g.namespace("other"))
	for i := range 3 {
		s.Documents = append(s.Documents, g.params(fmt.Sprintf("params-%d", i)))
	}
	for range 4 {
		s.Requests = append(s.Requests, g.request())
	}
	return s
}

func decide(a policy.Access) policy.Authorization {
	n := len(a.Verb) + len(a.Resource) + len(a.Name) + len(a.Path) + len(a.User.Name) + len(a.Namespace)
	return policy.Authorization{Known: true, Allowed: n%3 != 0, Reason: strings.Repeat("r", n%4)}
}

type generator struct {
	*rand.Rand
	variables []string // that expressions can use
	hasParams bool
	locals    []string // variables of macros in scope
	authorize bool
	calm      bool // most expressions of mutations are valid
	depth     int
}

func pick[T any](g *generator, items ...T) T { return items[g.IntN(len(items))] }

func (g *generator) some(n int) bool { return g.IntN(n) == 0 }

type object = map[string]any

func texts(items ...string) []any {
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = item
	}
	return list
}

func (g *generator) policy(name string) object {
	g.hasParams, g.variables, g.authorize = g.some(2), nil, true
	spec := object{"matchConstraints": g.match(true)}
	if g.hasParams {
		spec["paramKind"] = object{"apiVersion": "example.com/v1", "kind": "Params"}
	}
	if g.some(3) {
		spec["failurePolicy"] = pick(g, "Ignore", "Fail")
	}
	var variables, conditions, validations, annotations []any
	for i := range g.IntN(4) {
		v := fmt.Sprintf("v%d", i)
		variables = append(variables, object{"name": v, "expression": g.any()})
		g.variables = append(g.variables, v)
	}
	for i := range g.IntN(3) {
		conditions = append(conditions, object{"name": fmt.Sprintf("c%d", i), "expression": g.boolean()})
	}
	for range 1 + g.IntN(4) {
		v := object{"expression": g.boolean()}
		if g.some(2) {
			v["message"] = pick(g, "a message", " padded ", "object.spec.size")
		}
		if g.some(2) {
			g.authorize = g.some(4)
			v["messageExpression"] = g.text()
			g.authorize = true
		}
		if g.some(3) {
			v["reason"] = pick(g, "Forbidden", "Forbidden", "Invalid", "RequestEntityTooLarge")
		}
		validations = append(validations, v)
	}
	for i := range g.IntN(3) {
		annotations = append(annotations, object{"key": fmt.Sprintf("a%d", i), "valueExpression": pick(g, g.text(), g.text(), "null", "true ? 'x' : 'y'")})
	}
	spec["variables"], spec["matchConditions"], spec["validations"], spec["auditAnnotations"] = variables, conditions, validations, annotations
	return object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": object{"name": name}, "spec": spec}
}

func (g *generator) match(required bool) object {
	m := object{}
	if required || g.some(2) {
		var rules []any
		for range 1 + g.IntN(2) {
			rules = append(rules, g.rule())
		}
		m["resourceRules"] = rules
	}
	if g.some(5) {
		m["excludeResourceRules"] = []any{g.rule()}
	}
	if g.some(3) {
		m["matchPolicy"] = pick(g, "Exact", "Equivalent")
	}
	if g.some(4) {
		m["namespaceSelector"] = g.selector()
	}
	if g.some(4) {
		m["objectSelector"] = g.selector()
	}
	return m
}

func (g *generator) selector() object {
	return pick(g, object{"matchLabels": object{"a": "b"}}, object{"matchLabels": object{"c": pick(g, "d", "e")}},
		object{"matchExpressions": []any{object{"key": "a", "operator": pick(g, "Exists", "DoesNotExist")}}},
		object{"matchExpressions": []any{object{"key": "a", "operator": pick(g, "In", "NotIn"), "values": texts("b", "x")}}})
}

func (g *generator) rule() object {
	r := object{
		"operations": pick(g, texts("*"), texts("*"), texts("CREATE", "UPDATE"), texts("DELETE", "CONNECT")), "apiGroups": pick(g, texts("*"), texts("example.com"), texts("example.com"), texts("")),
		"apiVersions": pick(g, texts("v1"), texts("v1"), texts("v1beta1"), texts("*")),
		"resources":   pick(g, texts("widgets"), texts("widgets"), texts("widgets/*"), texts("*"), texts("*/*"), texts("*/status"), texts("widgets/status", "gadgets"), texts("gadgets")),
	}
	if g.some(5) {
		r["scope"] = pick(g, "*", "Namespaced", "Cluster")
	}
	if g.some(6) {
		r["resourceNames"] = pick(g, texts("w"), texts("x", "y"))
	}
	return r
}

func (g *generator) binding(name, policy string) object {
	spec := object{"policyName": policy, "validationActions": pick(g, texts("Deny"), texts("Deny", "Audit"), texts("Warn"), texts("Audit"), texts("Warn", "Audit"))}
	if g.some(4) {
		spec["matchResources"] = g.match(false)
	}
	if !g.some(5) {
		ref := object{"parameterNotFoundAction": pick(g, "Allow", "Deny")}
		if g.some(2) {
			ref["name"] = pick(g, "params-0", "params-1", "params-2", "none")
		} else {
			ref["selector"] = pick(g, object{}, g.selector())
		}
		if g.some(3) {
			ref["namespace"] = pick(g, "ns", "other")
		}
		spec["paramRef"] = ref
	}
	return object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": object{"name": name}, "spec": spec}
}

func (g *generator) labels() object {
	return pick(g, object{}, object{"a": "b"}, object{"a": "x", "c": "d"}, object{"c": "e"})
}

// namespace returns a Namespace as a server has it: with its name as a label.
func (g *generator) namespace(name string) object {
	labels := maps.Clone(g.labels())
	labels["kubernetes.io/metadata.name"] = name
	if g.some(3) {
		return object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": name, "labels": labels}}
	}
	return object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{
		"name": name, "labels": labels, "uid": "u", "resourceVersion": "1", "creationTimestamp": "2020-01-01T00:00:00Z",
		"managedFields": []any{object{"manager": "m", "operation": "Update"}},
	}, "spec": object{"finalizers": texts("kubernetes")}, "status": object{"phase": "Active"}}
}

func (g *generator) params(name string) object {
	return object{"apiVersion": "example.com/v1", "kind": "Params", "metadata": object{"name": name, "namespace": pick(g, "ns", "ns", "other"), "labels": g.labels()}, "limit": g.Int64N(9), "names": texts("a", "b"), "flag": g.some(2)}
}

// widget returns an object with at most one entry in each map that expressions iterate over.
func (g *generator) widget() object {
	spec := object{"size": g.Int64N(12), "name": pick(g, "a", "bb", "", "x.y/z"), "flag": g.some(2), "ratio": pick(g, 0.5, 3.0, -1.25)}
	if g.some(2) {
		spec["names"] = texts("a", "b", "cc")[:g.IntN(4)]
	}
	if g.some(2) {
		spec["ports"] = []any{object{"port": int64(80), "name": "http"}, object{"port": g.Int64N(70000)}}[:g.IntN(3)]
	}
	if g.some(3) {
		spec["nothing"] = nil
	}
	if g.some(3) {
		spec["quantity"] = pick(g, "1Gi", "500m", "x")
	}
	meta := object{"name": "w", "namespace": "ns", "labels": g.labels()}
	if g.some(2) {
		meta["annotations"] = object{"k": "v"}
	}
	o := object{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta, "spec": spec}
	if g.some(5) {
		delete(o, "spec")
	}
	return o
}

func (g *generator) request() policy.Request {
	gv := schema.GroupVersion{Group: "example.com", Version: "v1"}
	old := schema.GroupVersion{Group: "example.com", Version: "v1beta1"}
	req := policy.Request{
		Operation: pick(g, policy.OperationCreate, policy.OperationCreate, policy.OperationUpdate, policy.OperationUpdate, policy.OperationDelete, policy.OperationConnect),
		Resource:  gv.WithResource("widgets"), Kind: gv.WithKind("Widget"), Name: pick(g, "w", "w", "x"), Namespace: pick(g, "ns", "ns", "ns", "other", ""),
		User:        policy.User{Name: pick(g, "ann", "bob", "system:serviceaccount:ns:sa"), Groups: []string{"system:authenticated"}},
		DryRun:      g.some(4),
		Equivalents: []policy.Equivalent{{Resource: old.WithResource("widgets"), Kind: old.WithKind("Widget")}},
	}
	if g.some(3) {
		req.User.UID, req.User.Extra = "uid", map[string][]string{"k": {"v", "w"}}
	}
	if g.some(4) {
		req.Subresource = pick(g, "status", "scale")
	}
	if req.Operation != policy.OperationDelete {
		req.Object = g.widget()
	}
	if req.Operation == policy.OperationCreate && g.some(5) {
		req.Name = ""
		delete(req.Object["metadata"].(object), "name")
	}
	if req.Operation == policy.OperationUpdate || req.Operation == policy.OperationDelete {
		req.OldObject = g.widget()
	}
	return req
}
