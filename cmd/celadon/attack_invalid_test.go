//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func invalidRules() map[string]string {
	r := strings.Repeat
	rules := func(n int, rule func(i int) string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "            - rule: %q\n", rule(i))
		}
		return "x-kubernetes-validations:\n" + b.String() + "            properties: {a: {type: string, maxLength: 10}, "
	}
	var fields, wide strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&fields, "p%d: {type: string, maxLength: %d, x-kubernetes-validations: [{rule: self.x}]}, ", i, i+1)
		fmt.Fprintf(&wide, "p%d: {type: string}, ", i)
	}
	return map[string]string{
		"many":                rules(20_000, func(i int) string { return fmt.Sprintf("self.q%d", i) }) + "}\n",
		"many, equal":         rules(20_000, func(int) string { return "self.q" }) + "}\n",
		"many errors":         rules(90, func(int) string { return r("self.z == 1 || ", 600) + "true" }) + "}\n",
		"no syntax":           rules(100, func(i int) string { return r("+*", 5000) + fmt.Sprint(i) }) + "}\n",
		"no type":             rules(20_000, func(i int) string { return fmt.Sprint(i) }) + "}\n",
		"long":                rules(100, func(i int) string { return fmt.Sprintf("self.b == '%s' + %d", r("x", 9000), i) }) + "}\n",
		"on many fields":      "properties: {" + fields.String() + "}\n",
		"next to many fields": rules(3000, func(i int) string { return fmt.Sprintf("self.prpo%d == 'x'", i) }) + wide.String() + "}\n",
	}
}

const invalidMemory = 256 << 20

func TestAttackInvalidRules(t *testing.T) {
	small := tree(t, map[string]string{"m/a.yaml": goodCronTab})
	_, _, resting := attacked(t, small, 0, "check", "--crd", "crds", "m")
	for name, spec := range invalidRules() {
		t.Run(name, func(t *testing.T) {
			if name != "many" && !level.Long() {
				t.Skip("CELADON_LEVEL=long runs it")
			}
			dir := tree(t, map[string]string{"crds/t.yaml": attackCRDHead + spec, "m/a.yaml": goodCronTab, "m/t.yaml": "apiVersion: g.io/v1\nkind: T\nmetadata: {name: a}\nspec: {}\n"})
			for _, args := range [][]string{{"vet", "crds/t.yaml"}, {"vet", "-o", "json", "crds/t.yaml"}, {"check", "--crd", "crds", "m"}} {
				out, code, peak := attacked(t, dir, resting, args...)
				t.Logf("%s: exit code %d, %d MiB beyond %d, %d bytes", args, code, (peak-resting)>>20, resting>>20, len(out))
				if peak-resting > invalidMemory {
					t.Errorf("%s: %d MiB beyond a small run, want at most %d", args, (peak-resting)>>20, invalidMemory>>20)
				}
				if args[0] == "vet" && (code != command.Findings || !strings.Contains(out, "expressions are invalid, and their errors reach the limit")) {
					t.Errorf("%s: exit code %d: %.1000s", args, code, out)
				}
				if args[0] == "check" && (code != command.Usage || !strings.Contains(out, "1 valid")) {
					t.Errorf("%s: exit code %d: %.1000s", args, code, out[max(0, len(out)-1000):])
				}
			}
		})
	}
}
