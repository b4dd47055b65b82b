package policies

import (
	"fmt"
	"math/rand/v2"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/policy"
)

const widgetSchema = `
type: object
properties:
  spec:
    type: object
    properties:
      size: {type: integer, default: 3}
      name: {type: string}
      flag: {type: boolean}
      ratio: {type: number}
      when: {type: string, format: date-time}
      names: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      tags: {type: array, items: {type: string}}
      ports:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [port, protocol]
        items:
          type: object
          required: [port]
          properties: {port: {type: integer}, protocol: {type: string, default: TCP}, name: {type: string}, hints: {type: array, items: {type: integer}}}
      limits: {type: object, additionalProperties: {type: integer}}
      lists: {type: object, additionalProperties: {type: array, items: {type: string}}}
      selector: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}, b: {type: string}}}
      template: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: array, items: {type: string}}}}
      any: {x-kubernetes-preserve-unknown-fields: true}
      quantity: {x-kubernetes-int-or-string: true}
      nothing: {type: string, nullable: true}
      nested: {type: object, default: {}, properties: {deep: {type: object, properties: {text: {type: string, default: x}}}}}
      embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  status: {type: object, properties: {ready: {type: boolean}}}
`

// WidgetKind returns the kind of the generated objects.
func WidgetKind() (*Kind, error) {
	var props apiextensionsv1.JSONSchemaProps
	if err := yaml.Unmarshal([]byte(widgetSchema), &props); err != nil {
		return nil, err
	}
	return NewKind(crdOf("example.com", "Widget", "widgets", &props, "v1", "v1beta1"))
}

func crdOf(group, kind, plural string, props *apiextensionsv1.JSONSchemaProps, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = plural + "." + group
	crd.Spec.Group, crd.Spec.Scope = group, apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural, Singular: strings.ToLower(kind)}
	for i, version := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: i == 0, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props.DeepCopy()},
		})
	}
	return crd
}

// NewMutatingScenario returns the scenario of a seed with mutating policies.
func NewMutatingScenario(seed uint64) *Scenario {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 11))}
	s := &Scenario{Config: policy.Config{Complete: true, Authorize: decide}}
	if g.some(6) {
		s.Config.Limits.PerObject = 1 + g.Int64N(300)
	}
	if g.some(10) {
		s.Config.MatchConditions = 1 + g.Int64N(60)
	}
	for i := range 1 + g.IntN(4) {
		s.Documents = append(s.Documents, g.mutatingPolicy(fmt.Sprintf("policy-%d", i)))
		for j := range 1 + g.IntN(2) {
			b := g.binding(fmt.Sprintf("binding-%d-%d", i, j), fmt.Sprintf("policy-%d", i))
			b["kind"] = "MutatingAdmissionPolicyBinding"
			spec := b["spec"].(object)
			delete(spec, "validationActions")
			withoutDelete(spec["matchResources"])
			s.Documents = append(s.Documents, b)
		}
	}
	s.Documents = append(s.Documents, g.namespace("ns"), g.namespace("other"))
	for i := range 3 {
		s.Documents = append(s.Documents, g.params(fmt.Sprintf("params-%d", i)))
	}
	for range 4 {
		req := g.request()
		if req.Object != nil {
			req.Object = g.mutableWidget()
		}
		s.Requests = append(s.Requests, req)
	}
	return s
}

func withoutDelete(match any) {
	m, _ := match.(object)
	rules, _ := m["resourceRules"].([]any)
	for _, r := range rules {
		if ops := r.(object)["operations"].([]any); ops[0] == "DELETE" {
			r.(object)["operations"] = texts("CREATE", "CONNECT")
		}
	}
}

func (g *generator) mutatingPolicy(name string) object {
	g.hasParams, g.variables, g.authorize, g.calm = g.some(2), nil, true, !g.some(3)
	match := g.match(true)
	withoutDelete(match)
	if !g.some(4) {
		match = object{"resourceRules": []any{object{"operations": texts("*"), "apiGroups": texts("*"), "apiVersions": pick(g, texts("v1"), texts("v1"), texts("v1beta1"), texts("*")), "resources": texts("*/*")}}}
	}
	spec := object{"matchConstraints": match, "reinvocationPolicy": pick(g, "IfNeeded", "Never")}
	if g.hasParams {
		spec["paramKind"] = object{"apiVersion": "example.com/v1", "kind": "Params"}
	}
	if !g.some(3) {
		spec["failurePolicy"] = pick(g, "Ignore", "Ignore", "Fail")
	}
	var variables, conditions, mutations []any
	for i := range g.IntN(3) {
		v := fmt.Sprintf("v%d", i)
		variables = append(variables, object{"name": v, "expression": g.any()})
		g.variables = append(g.variables, v)
	}
	if g.some(4) {
		conditions = append(conditions, object{"name": "c", "expression": g.boolean()})
	}
	for range 1 + g.IntN(3) {
		if g.some(2) {
			mutations = append(mutations, object{"patchType": "JSONPatch", "jsonPatch": object{"expression": g.jsonPatch()}})
		} else {
			mutations = append(mutations, object{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": g.applyConfiguration()}})
		}
	}
	spec["variables"], spec["matchConditions"], spec["mutations"] = variables, conditions, mutations
	return object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": object{"name": name}, "spec": spec}
}

func (g *generator) mutableWidget() object {
	o := g.widget()
	spec, ok := o["spec"].(object)
	if !ok {
		return o
	}
	delete(spec, "nothing")
	if ports, ok := spec["ports"].([]any); ok {
		for i, p := range ports {
			p.(object)["port"] = int64(80 + g.IntN(2)*i)
			p.(object)["protocol"] = pick(g, "TCP", "TCP", "UDP")
		}
	}
	add := func(name string, value any) {
		if g.some(3) {
			spec[name] = value
		}
	}
	add("tags", texts("t", "t"))
	add("limits", object{"cpu": g.Int64N(4)})
	add("selector", object{"a": "b"})
	add("template", object{"known": texts("k"), "free": object{"x": int64(1), "list": []any{int64(1), 2.0}}})
	add("any", pick(g, any("text"), any(object{"a": object{"b": int64(1)}}), any([]any{int64(1)})))
	add("quantity", pick(g, any(int64(5)), any("1Gi")))
	add("nothing", nil)
	add("nested", object{"deep": object{}})
	add("embedded", object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"labels": object{"a": "b"}}, "spec": object{"x": texts("y")}})
	if g.some(8) {
		spec["names"] = texts("a", "b", "a")
	}
	if g.some(10) {
		spec["unknown"] = "field"
	}
	return o
}
