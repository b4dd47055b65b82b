//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

type policyAttack struct {
	policies []any
	schema   string // of spec, after attackCRDHead
	spec     any
	args     []string // of check, in addition
	code     int
	want     string // in the output
	short    bool   // included in short tests
}

type fields = map[string]any

func boundPolicy(kind, name string, spec, binding fields) []any {
	spec["matchConstraints"] = fields{"resourceRules": []any{fields{"operations": []any{"*"}, "apiGroups": []any{"g.io"}, "apiVersions": []any{"*"}, "resources": []any{"*"}}}}
	if kind == "MutatingAdmissionPolicy" {
		spec["reinvocationPolicy"] = "IfNeeded"
	} else {
		binding["validationActions"] = []any{"Deny"}
	}
	binding["policyName"] = name
	return []any{
		fields{"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": fields{"name": name}, "spec": spec},
		fields{"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind + "Binding", "metadata": fields{"name": name}, "spec": binding},
	}
}

func mutating(name string, variables []any, expressions ...string) []any {
	var mutations []any
	for _, x := range expressions {
		if strings.HasPrefix(x, "[") {
			mutations = append(mutations, fields{"patchType": "JSONPatch", "jsonPatch": fields{"expression": x}})
		} else {
			mutations = append(mutations, fields{"patchType": "ApplyConfiguration", "applyConfiguration": fields{"expression": x}})
		}
	}
	return boundPolicy("MutatingAdmissionPolicy", name, fields{"variables": variables, "mutations": mutations}, fields{})
}

func validating(variables []any, validations ...any) []any {
	return boundPolicy("ValidatingAdmissionPolicy", "p", fields{"variables": variables, "validations": validations}, fields{})
}

func chain(n int, first, next string) (variables []any) {
	for i := range n {
		x := first
		if i > 0 {
			x = strings.ReplaceAll(next, "LAST", fmt.Sprintf("variables.v%d", i-1))
		}
		variables = append(variables, fields{"name": fmt.Sprintf("v%d", i), "expression": x})
	}
	return variables
}

func doublings(n int) []any {
	operations := []string{"JSONPatch{op: 'add', path: '/spec/a', value: {'a': {}}}"}
	for i := range n {
		operations = append(operations, fmt.Sprintf("JSONPatch{op: 'copy', from: '/spec/a', path: '/spec/a' + variables.v%d}", i))
	}
	return mutating("p", chain(n, "'/a'", "LAST + LAST"), "["+strings.Join(operations, ", ")+"]")
}

func crossed(n int) []any {
	params := fields{"apiVersion": "v1", "kind": "ConfigMap"}
	docs := boundPolicy("ValidatingAdmissionPolicy", "p", fields{"paramKind": params, "validations": []any{fields{"expression": "params.data.a == 'b'"}}},
		fields{"paramRef": fields{"selector": fields{}, "parameterNotFoundAction": "Deny"}})
	binding := docs[1].(fields)
	for i := range n {
		docs = append(docs, fields{"apiVersion": binding["apiVersion"], "kind": binding["kind"], "metadata": fields{"name": fmt.Sprintf("b%d", i)}, "spec": binding["spec"]},
			fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": fmt.Sprintf("c%d", i), "namespace": "default"}, "data": fields{"a": "b"}})
	}
	return docs
}

func policyAttacks() map[string]policyAttack {
	const any, overworked = "x-kubernetes-preserve-unknown-fields: true\n", "the policies exceed the work limit"
	keyed := `properties:
              m: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}, v: {type: string}}}}
              z: {type: string}
`
	items := make([]interface{}, 19_900)
	for i := range items {
		items[i] = fields{"k": fmt.Sprintf("key-%d", i), "v": "x"}
	}
	long := "lists.range(10000).map(i, '" + letters(90) + "').join('')"
	return map[string]policyAttack{
		"depth that doubles":          {policies: doublings(18), schema: any, code: 2, want: overworked, short: true},
		"depth, as YAML":              {policies: doublings(7), schema: any, args: []string{"-o", "yaml"}},
		"depth, as a diff":            {policies: doublings(7), schema: any, args: []string{"--diff"}},
		"depth, persisted":            {policies: doublings(7), schema: any, args: []string{"-o", "jsonl", "--persisted"}},
		"depth within the limit":      {policies: doublings(7), schema: any, want: "2 valid"},
		"bindings times params":       {policies: crossed(5000), schema: any, code: 2, want: "over 20000 decisions", short: true},
		"a chain of variables":        {policies: validating(chain(200, "1", "LAST + 1"), fields{"expression": "variables.v199 == 200"}), schema: any, want: "2 valid", short: true},
		"strings that double":         {policies: validating(chain(60, "'aaaaaaaaaa'", "LAST + LAST"), fields{"expression": "variables.v59.size() > 0"}), schema: any, code: 1},
		"messages of gigabytes":       {policies: validating(nil, manyOf(fields{"expression": "false", "messageExpression": long}, 500)...), schema: any, code: 1},
		"merging long lists":          {policies: mutating("p", nil, slicesRepeat("Object{spec: Object.spec{m: [Object.spec.m{k: 'key-5', v: 'y'}]}}", 20)...), schema: keyed, spec: fields{"m": items, "z": "a"}, code: 2, want: "work limit"},
		"long errors of many patches": {policies: mutating("p", nil, slicesRepeat("[JSONPatch{op: 'remove', path: '/' + "+long+"}]", 100)...), schema: any, code: 1},
	}
}

func TestAttackPolicies(t *testing.T) {
	small := tree(t, map[string]string{"m/a.yaml": goodCronTab})
	_, _, resting := attacked(t, small, 0, "check", "--crd", "crds", "m")
	for name, a := range policyAttacks() {
		t.Run(name, func(t *testing.T) {
			if !a.short && !level.Long() {
				t.Skip("CELADON_LEVEL=long runs it")
			}
			spec := a.spec
			if spec == nil {
				spec = fields{"a": fields{}}
			}
			object, err := json.Marshal(fields{"apiVersion": "g.io/v1", "kind": "T", "metadata": fields{"name": "a"}, "spec": spec})
			if err != nil {
				t.Fatal(err)
			}
			var policies strings.Builder
			for _, doc := range a.policies {
				data, err := json.Marshal(doc)
				if err != nil {
					t.Fatal(err)
				}
				policies.Write(append(data, '\n'))
			}
			dir := tree(t, map[string]string{"crds/t.yaml": attackCRDHead + a.schema, "p.json": policies.String(), "m/a.yaml": goodCronTab, "m/t.json": string(object)})
			out, code, peak := attacked(t, dir, resting, append([]string{"check", "--crd", "crds", "--policy", "p.json", "m"}, a.args...)...)
			t.Logf("%d MiB beyond %d, %d bytes of output", (peak-resting)>>20, resting>>20, len(out))
			if code != a.code || !strings.Contains(out, a.want) || len(out) > 64*megabyte {
				t.Errorf("exit code %d, want %d and %q in %d bytes:\n%.1000s\n…%s", code, a.code, a.want, len(out), out, out[max(0, len(out)-300):])
			}
			if code == command.Usage && !strings.Contains(out, "1 valid") {
				t.Errorf("the honest object has no verdict: %.300s", out)
			}
		})
	}
}
