package policies

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/celadon-cel/celadon/engine/policy"
)

// NewSelectionScenario returns the scenario of a seed with a mutation that selects from object literals.
func NewSelectionScenario(seed uint64) *Scenario {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 12)), calm: true}
	s := &Scenario{Config: policy.Config{Complete: true, Authorize: decide}}
	value := g.selected()
	mutation := object{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": fmt.Sprintf("Object{spec: Object.spec{any: %s}}", value)}}
	if g.some(2) {
		mutation = object{"patchType": "JSONPatch", "jsonPatch": object{"expression": fmt.Sprintf("[JSONPatch{op: 'add', path: '/spec/any', value: %s}]", value)}}
	}
	spec := object{
		"matchConstraints":   object{"resourceRules": []any{object{"operations": texts("*"), "apiGroups": texts("*"), "apiVersions": texts("*"), "resources": texts("*")}}},
		"reinvocationPolicy": "Never", "mutations": []any{mutation},
	}
	s.Documents = []map[string]any{
		{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": object{"name": "p"}, "spec": spec},
		{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": object{"name": "p"}, "spec": object{"policyName": "p"}},
		g.namespace("ns"), g.namespace("other"),
	}
	req := g.request()
	req.Operation, req.OldObject, req.Subresource, req.Object = policy.OperationCreate, nil, "", g.mutableWidget()
	s.Requests = []policy.Request{req}
	return s
}

func (g *generator) selected() string {
	o, p := g.literal("Object", 2), g.literal("Object", 2)
	f, h := g.fieldName(), g.fieldName()
	switch g.IntN(24) {
	case 0, 1, 2:
		return o + "." + f
	case 3:
		return fmt.Sprintf("has(%s.%s)", o, f)
	case 4:
		return fmt.Sprintf("%s.?%s.orValue('absent')", o, f)
	case 5:
		return fmt.Sprintf("%s.%s.%s", o, f, h)
	case 6:
		return fmt.Sprintf("has(%s.%s.%s)", o, f, h)
	case 7:
		return fmt.Sprintf("%s.?%s.%s.orValue(1)", o, f, h)
	case 8:
		return fmt.Sprintf("%s.%s.?%s.orValue(1)", o, f, h)
	case 9:
		return fmt.Sprintf("[%s, %s].map(o, o.%s)", o, p, f)
	case 10:
		return fmt.Sprintf("[%s, %s].filter(o, has(o.%s)).map(o, o.?%s.orValue(2))", o, p, f, h)
	case 11:
		return fmt.Sprintf("(%s ? %s : %s).%s", pick(g, "true", "false", "object.spec.size > 2"), o, p, f)
	case 12:
		return fmt.Sprintf("%s == %s", o, pick(g, o, p))
	case 13:
		return fmt.Sprintf("%s.%s == %s.%s", o, f, pick(g, o, p), f)
	case 14:
		return fmt.Sprintf("string(type(%s.%s)) + string(type(%s))", o, f, o)
	case 15:
		return fmt.Sprintf("optional.of(%s).?%s.orValue('none')", o, f)
	case 16:
		return fmt.Sprintf("dyn(%s).%s", o, f)
	case 17:
		return fmt.Sprintf("has(dyn(%s).%s)", o, f)
	case 18:
		return fmt.Sprintf("%s.%s[%s]", o, f, pick(g, "0", "'x'", "7"))
	case 19:
		return fmt.Sprintf("{'k': %s}.k.%s", o, f)
	case 20:
		return fmt.Sprintf("[%s][0].%s", o, f)
	case 21:
		return fmt.Sprintf("[%s, %s].exists(o, o.%s == o.%s)", o, p, f, h)
	case 22:
		return fmt.Sprintf("size(%s.%s)", o, f)
	}
	return g.literal("Object."+f, 2) + "." + h
}

func (g *generator) fieldName() string { return pick(g, "a", "b", "c", "d", "metadata") }

func (g *generator) literal(name string, depth int) string {
	var fields []string
	for _, field := range []string{"a", "b", "c", "d", "metadata"} {
		if !g.some(2) {
			continue
		}
		value := pick(g, "'x'", "1", "2.5", "true", "null", "['x', 'y']", "[1]", "[]", "{'x': 1}", "{}", "duration('1h')", "b'x'", "3u", "object.spec", "object.spec.size",
			"object.metadata.?labels", "[1].map(x, x + 1)", "['y'] + ['x']", "timestamp('2020-01-01T00:00:00Z')", "{1: 'x'}", "[['x']]", "[{'x': [1]}]", "optional.of('x')")
		if depth > 0 && g.some(3) {
			value = g.literal(name+"."+field, depth-1)
			if g.some(4) {
				value = "[" + value + "]"
			}
		}
		optional := ""
		if g.some(10) {
			optional, value = "?", pick(g, "optional.none()", "optional.of("+value+")")
		}
		fields = append(fields, optional+field+": "+value)
	}
	return name + "{" + strings.Join(fields, ", ") + "}"
}
