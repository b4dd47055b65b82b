//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func crdAttacks() map[string]string {
	rules := func(n int, rule func(i int) string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "            - rule: %q\n", rule(i))
		}
		return "x-kubernetes-validations:\n" + b.String() + "            properties: {a: {type: string, maxLength: 10}}\n"
	}
	each := func(n int, property string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "              p%d: %s\n", i, property)
		}
		return "properties:\n" + b.String()
	}
	var names []string
	for i := range 9000 {
		names = append(names, fmt.Sprintf("nope%d", i))
	}
	return map[string]string{
		"errors":     rules(15, func(i int) string { return strings.Join(names, "||") + fmt.Sprintf(" || %d", i) }),
		"many rules": rules(30_000, func(i int) string { return fmt.Sprintf("self.a != 'x%d'", i) }),
		"long rules": rules(15, func(i int) string { return "size(self.a)" + strings.Repeat(" + 1", 24_000) + fmt.Sprintf(" > %d", i) }),
		"deep lists": rules(2000, func(i int) string {
			return strings.Repeat("[", 240) + strings.Repeat("]", 240) + fmt.Sprintf(" == [] || %d == 1", i)
		}),
		"operators": rules(45, func(i int) string { return strings.Repeat("self.a == 'x' || ", 1400) + fmt.Sprintf("%d == 1", i) }),
		"macros": rules(800, func(i int) string {
			return strings.Repeat("[1].all(x,", 120) + "true" + strings.Repeat(")", 120) + fmt.Sprintf(" || %d == 1", i)
		}),
		"patterns":       rules(3000, func(i int) string { return fmt.Sprintf("self.a.matches('%s%d')", strings.Repeat("a{1000}", 40), i) }),
		"properties":     each(12_000, "{type: string, maxLength: 9, x-kubernetes-validations: [{rule: \"self!=''\"}]}"),
		"schema pattern": each(3000, "{type: string, maxLength: 9, pattern: '"+strings.Repeat("a{1000}", 40)+"'}"),
	}
}

func TestAttackCRDs(t *testing.T) {
	small := tree(t, map[string]string{"m/a.yaml": goodCronTab})
	_, _, resting := attacked(t, small, 0, "check", "--crd", "crds", "m")
	for name, spec := range crdAttacks() {
		t.Run(name, func(t *testing.T) {
			if name != "deep lists" && !level.Long() {
				t.Skip("CELADON_LEVEL=long runs it")
			}
			dir := tree(t, map[string]string{"crds/t.yaml": attackCRDHead + spec, "m/a.yaml": goodCronTab, "m/t.yaml": "apiVersion: g.io/v1\nkind: T\nmetadata: {name: a}\nspec: {}\n"})
			for _, args := range [][]string{{"check", "--crd", "crds", "m"}, {"vet", "crds/t.yaml"}} {
				out, code, _ := attacked(t, dir, resting, args...)
				if code < command.OK || code > command.Usage || strings.Contains(out, "internal error") {
					t.Errorf("%s: exit code %d: %.1000s", args[0], code, out)
				}
				if args[0] == "check" && !strings.Contains(out, "object") {
					t.Errorf("no object was decided: %.1000s", out)
				}
			}
		})
	}
}
