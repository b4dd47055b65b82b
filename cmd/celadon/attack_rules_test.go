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

type ruleAttack struct {
	rule, message string // of spec
	schema        string // of spec.a, instead of a string
	a             any    // spec.a
	items         int    // of spec.l
	code          int
	short         bool // included in short tests
}

const megabyte = 1 << 20

func letters(n int) string { return strings.Repeat("a", n) }

func ruleAttacks() map[string]ruleAttack {
	nest := func(n int) string { return strings.Repeat("[", n) + "1" + strings.Repeat("]", n) + " == []" }
	shared := "[dyn('b')]" + strings.Repeat(".map(x, dyn([x, x]))", 40)
	return map[string]ruleAttack{
		"format of many":         {rule: "'%s'.format([self.l.map(x, self.a)]).size() > 0", a: letters(megabyte), items: 3000, code: 2, short: true},
		"format 200 times":       {rule: "'" + strings.Repeat("%s", 200) + "'.format(lists.range(200).map(x, self.a)).size() > 0", a: letters(2 * megabyte), code: 2},
		"digits":                 {rule: "'" + strings.Repeat("%.999999f", 1000) + "'.format(lists.range(1000).map(x, 1.5)).size() > 0", a: "", code: 2},
		"charAt in a loop":       {rule: "lists.range(50000).all(i, self.a.charAt(i) == 'a')", a: letters(2 * megabyte), code: 2, short: true},
		"size in a loop":         {rule: "lists.range(50000).all(i, self.a.size() > i)", a: letters(2 * megabyte), code: 2},
		"a bad time zone":        {rule: "lists.range(50000).all(i, self.a == '' || timestamp('2024-02-03T04:05:06Z').getHours('Nowhere') >= 0 || true)", a: "x", code: 2},
		"a small quantity":       {rule: "lists.range(50000).all(i, isQuantity('1e-99999'))", a: "", code: 2},
		"a long timestamp":       {rule: "lists.range(10000).all(i, timestamp(self.a) > timestamp('2024-02-03T04:05:06Z') || true)", a: letters(2 * megabyte), code: 2},
		"replace, many times":    {rule: "lists.range(600).all(i, self.a.replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaa').size() > 0)", a: letters(2 * megabyte), code: 2},
		"replace of nothing":     {rule: "self.a.replace('', self.a).size() > 0 || true", a: letters(90_000), code: 2},
		"a pattern of millions":  {rule: "self.a.matches('" + strings.Repeat("a{1000}", 3000) + "')", a: "a", code: 2, short: true},
		"the same, computed":     {rule: "self.a.matches('" + strings.Repeat("a{1000}", 3000) + "'.trim())", a: "a", code: 2},
		"a slow pattern":         {rule: "self.a.matches('(x?){0,500}(y?x?){0,400}Z')", a: strings.Repeat("x", megabyte), code: 2, short: true},
		"a slow schema":          {schema: "{type: string, pattern: '(x?){0,500}(y?x?){0,400}Z'}", rule: "true", a: strings.Repeat("x", megabyte), code: 2},
		"a large schema":         {schema: "{type: string, pattern: '" + strings.Repeat("a{1000}", 3000) + "'}", rule: "true", a: "a", code: 2},
		"patterns of branches":   {schema: "{type: string, allOf: [" + strings.Repeat("{pattern: '^(a|b|ab)*c?$'}, ", 999) + "{maxLength: 9000000}]}", rule: "true", a: letters(2 * megabyte), code: 2},
		"find all":               {rule: "self.a.findAll('a.*b|a').size() > 0", a: letters(200_000), code: 2},
		"a long key":             {rule: "lists.range(100000).all(i, !(self.a in {'a': 1}) && {'b': 2}.size() == 1)", a: letters(2 * megabyte), code: 2},
		"contains nothing":       {rule: "lists.range(200000).all(i, self.a.contains(''))", a: letters(2 * megabyte), code: 2},
		"lists that share":       {rule: shared + ".all(x, x == [dyn(x)[0], dyn(x)[1]])", a: "", code: 2, short: true},
		"a list that doubles":    {rule: "[[1]]" + strings.Repeat(".map(x, x + x)", 50) + "[0].size() > 1", a: "", code: 2},
		"base64 in a loop":       {schema: "{type: string, format: byte}", rule: "lists.range(100000).all(i, has(self.a) && self.a.size() > i)", a: letters(2 * megabyte), code: 2},
		"durations in a loop":    {schema: "{type: string, format: duration}", rule: "lists.range(100000).all(i, dyn(self).a > duration('1s'))", a: strings.Repeat("1s", megabyte/2), code: 2},
		"queries":                {rule: "lists.range(1000).all(i, url('http://h/?' + self.a).getQuery().size() > 0)", a: strings.Repeat("a=b&", 9000), code: 2},
		"names":                  {rule: "lists.range(200).all(i, format.dns1123Subdomain().validate(self.a).hasValue())", a: letters(2 * megabyte), code: 1},
		"a message of gigabytes": {rule: "false", message: "self.l.map(x, self.a).join()", a: letters(megabyte), items: 3000, code: 1},
		"a false rule, too":      {rule: "self.a.replace('', self.a).size() > 0 && false", a: letters(9000), code: 1},
		"too many operators":     {rule: strings.Repeat("self.l[0] == 'a' || ", 4500) + "true", a: "", items: 1, code: 2},
		"too deep":               {rule: nest(240), a: "", code: 2},
		"too many values":        {rule: "self.l.all(x, x == 'y')", a: "", items: 700_000, code: 1},
		"values of another type": {schema: "{type: array, items: {type: integer}}", rule: "true", a: manyOf("a", 700_000), code: 1},
		"no value of an enum":    {schema: "{type: array, items: {type: string, enum: [" + strings.Repeat("BBBBBBBBBB, ", 50) + "C]}}", rule: "true", a: manyOf("a", 700_000), code: 1},
		"defaults":               {schema: "{type: array, items: {type: object, properties: {x: {type: string, default: yyyyyyyy}, y: {type: integer, default: 3}}}}", rule: "true", a: manyOf(map[string]any{}, 500_000), code: 0},
	}
}

func manyOf(v any, n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = v
	}
	return list
}

func (a *ruleAttack) crd() string {
	schema := a.schema
	if schema == "" {
		schema = "{type: string}"
	}
	rule := fmt.Sprintf("{rule: %q}", a.rule)
	if a.message != "" {
		rule = fmt.Sprintf("{rule: %q, messageExpression: %q}", a.rule, a.message)
	}
	return attackCRDHead + fmt.Sprintf(`properties:
              a: %s
              l: {type: array, items: {type: string}}
            x-kubernetes-validations: [%s]
`, schema, rule)
}

func (a *ruleAttack) object(t *testing.T) string {
	spec := map[string]any{"a": a.a}
	if a.items > 0 {
		spec["l"] = manyOf("b", a.items)
	}
	data, err := json.Marshal(map[string]any{"apiVersion": "g.io/v1", "kind": "T", "metadata": map[string]any{"name": "hostile"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAttackRules(t *testing.T) {
	small := tree(t, map[string]string{"m/a.yaml": goodCronTab})
	if _, code, _ := attacked(t, small, 0, "check", "--crd", "crds", "m"); code != command.OK {
		t.Fatalf("exit code %d", code)
	}
	_, _, resting := attacked(t, small, 0, "check", "--crd", "crds", "m")
	for name, a := range ruleAttacks() {
		t.Run(name, func(t *testing.T) {
			if !a.short && !level.Long() {
				t.Skip("CELADON_LEVEL=long runs it")
			}
			dir := tree(t, map[string]string{"crds/t.yaml": a.crd(), "m/a.yaml": goodCronTab, "m/t.json": a.object(t)})
			out, code, _ := attacked(t, dir, resting, "check", "--crd", "crds", "m")
			want := map[int]string{0: "2 objects checked: 2 valid", 1: "2 objects checked: 1 valid, 1 invalid", 2: "1 object checked: 1 valid, 0 invalid; 1 undecided"}[a.code]
			if code != a.code || !strings.Contains(out, want) {
				t.Errorf("exit code %d, want %d and %q in:\n%.1000s\n…%s", code, a.code, want, out, out[max(0, len(out)-300):])
			}
			out, code, _ = attacked(t, dir, resting, "vet", "crds/t.yaml")
			if code < 0 || code > 2 || strings.Contains(out, "internal error") {
				t.Errorf("vet: exit code %d: %.1000s", code, out)
			}
		})
	}
}
