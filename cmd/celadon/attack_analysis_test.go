//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func analysisAttacks() map[string]string {
	r := strings.Repeat
	rules := func(n int, rule func(i int) string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "{rule: %q}, ", rule(i))
		}
		return "x-kubernetes-validations: [" + b.String() + "]"
	}
	deep := func(n int) string {
		return "properties: " + r("{a: {type: object, properties: ", n) + `{a: {type: string, x-kubernetes-validations: [{rule: "self != ''"}]}}` + r("}}", n)
	}
	least := func(schema string) string {
		return "required: [a]\n            properties: {a: " + schema + "}\n            " + rules(1, func(int) string { return "self.a.size() > 3" })
	}
	integers := "\n            properties: {l: {type: array, maxItems: 3, items: {type: integer}}}"
	text := "\n            properties: {a: {type: string, maxLength: 100}}"
	return map[string]string{
		"deep":       deep(1500),
		"macros":     rules(200, func(i int) string { return r("self.l.all(a,", 8) + fmt.Sprintf("a != %d", i) + r(")", 8) }) + integers,
		"wide":       rules(40, func(i int) string { return r("self.a == 'x' || ", 1400) + fmt.Sprintf("%d == 1", i) }) + text,
		"patterns":   rules(200, func(i int) string { return fmt.Sprintf("self.a.matches('%s%d')", r("a{1000}", 15), i) }) + text,
		"items":      least("{type: array, minItems: 100, items: {type: array, minItems: 100, items: {type: array, minItems: 100, items: {type: string}}}}"),
		"long items": least("{type: array, minItems: 10000, items: {type: string, minLength: 1000000}}"),
		"entries":    least("{type: object, minProperties: 1000000, additionalProperties: {type: object, minProperties: 1000, additionalProperties: {type: string}}}"),
		"default":    rules(1, func(int) string { return "self.a.size() < 3" }) + "\n            properties: {a: {type: array, items: {type: integer}, default: [" + r("1, ", 100_000) + "1]}}",
		"enum":       least("{type: string, enum: [" + numbered("value%d, ", 50_000) + "x]}"),
	}
}

// analysisMemory limits the memory of an analysis beyond the memory of a run on one small object. It allows for a late
// garbage collection.
const analysisMemory = 384 << 20

func TestAttackAnalysis(t *testing.T) {
	small := tree(t, map[string]string{"m/a.yaml": goodCronTab})
	_, _, resting := attacked(t, small, 0, "check", "--crd", "crds", "m")
	for name, spec := range analysisAttacks() {
		t.Run(name, func(t *testing.T) {
			if name != "deep" && !level.Long() {
				t.Skip("CELADON_LEVEL=long runs it")
			}
			changed := strings.NewReplacer("!=", "==", "minItems: 1", "minItems: 2", "minLength: 1", "minLength: 2", "[value0, ", "[").Replace(spec)
			dir := tree(t, map[string]string{"crds/t.yaml": attackCRDHead + spec + "\n", "new/t.yaml": attackCRDHead + changed + "\n"})
			for _, args := range [][]string{
				{"find", "--crd", "crds"},
				{"find", "--crd", "crds/t.yaml", "--full"},
				{"test", "init", "--crd", "crds/t.yaml"},
				{"docs", "--crd", "crds/t.yaml"},
				{"diff", "crds/t.yaml", "new/t.yaml"},
				{"diff", "--kube-version", "1.30", "--to-kube-version", "1.37", "crds/t.yaml"},
				{"vet", "--find", "crds/t.yaml"},
			} {
				out, code, peak := attacked(t, dir, resting, args...)
				if code < command.OK || code > command.Usage || strings.Contains(out, "internal error") {
					t.Errorf("%s: exit code %d: %.1000s", args[0], code, out)
				}
				if peak-resting > analysisMemory {
					t.Errorf("%s: %d MiB beyond a small run, want at most %d", args[0], (peak-resting)>>20, analysisMemory>>20)
				}
				if args[len(args)-1] == "crds" && !strings.Contains(out, "spec, rule 0: self.replicas <= self.maxReplicas\n    rejected: this object") {
					t.Errorf("%s: no answer for the honest CRD: %.1000s", args[0], out)
				}
			}
		})
	}
}

func TestAttackUnknownFields(t *testing.T) {
	small := tree(t, map[string]string{"m/a.yaml": goodCronTab})
	_, _, resting := attacked(t, small, 0, "check", "--crd", "crds", "m")
	dir := tree(t, map[string]string{
		"crds/t.yaml": attackCRDHead + "properties: {a: {type: string}}\n",
		"m/a.yaml":    attackObject + numbered("  k%d: 1\n", 50_000),
		"m/b.yaml":    goodCronTab,
	})
	out, code, _ := attacked(t, dir, resting, "check", "--crd", "crds", "m")
	for _, want := range []string{`unknown field "spec.k49999"`, "49900 more fields: use -o json to see all of them", "2 objects checked: 1 valid, 1 invalid"} {
		if !strings.Contains(out, want) {
			t.Errorf("not in the report: %q", want)
		}
	}
	if n := strings.Count(out, "  --> "); code != command.Findings || n != 100 {
		t.Errorf("exit code %d and %d positions, want %d and 100", code, n, command.Findings)
	}
}
