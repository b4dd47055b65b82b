//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

const explainMemory = 256 << 20

// explainAttack is a rejected object whose explanation is far more expensive than its verdict.
type explainAttack struct {
	rules   []string       // of spec
	spec    map[string]any // of the object
	objects int            // number of copies; 0 means one
}

func explainAttacks() map[string]explainAttack {
	numbers := func(n int) map[string]any {
		list := make([]any, n)
		for i := range list {
			list[i] = i
		}
		return map[string]any{"k": 7, "l": list}
	}
	texts := func(n int) map[string]any {
		list := make([]any, n)
		for i := range list {
			list[i] = fmt.Sprintf("text-%d", i)
		}
		return map[string]any{"s": list}
	}
	each := func(n int, rule func(i int) string) (rules []string) {
		for i := range n {
			rules = append(rules, rule(i))
		}
		return rules
	}
	return map[string]explainAttack{
		"a call that the cost limit stops": {rules: []string{"lists.range(340000).distinct().size() > 0"}, spec: map[string]any{}},
		"sets that the cost limit stops":   {rules: []string{"sets.contains(self.s, self.s) && false"}, spec: texts(60_000)},
		"twenty rules over a long list":    {rules: each(20, func(i int) string { return fmt.Sprintf("self.l.all(x, x != %d)", 19_989-i) }), spec: numbers(19_990)},
		"twenty rules over fewer elements": {rules: each(20, func(i int) string { return fmt.Sprintf("self.l.all(x, x != %d)", 4989-i) }), spec: numbers(4990)},
		"a macro in a macro":               {rules: each(20, func(i int) string { return fmt.Sprintf("self.l.all(x, self.l.all(y, x + y != %d))", 1198-i) }), spec: numbers(600)},
		"a sum of many terms":              {rules: []string{strings.Repeat("self.k + ", 200) + "self.k == 1"}, spec: map[string]any{"k": 7}},
		"many comparisons":                 {rules: []string{strings.Repeat("self.l == [self.k] || ", 800) + "false"}, spec: numbers(19_990)},
		"one value spelled in many ways": {
			rules: []string{strings.Join(each(200, func(i int) string { return fmt.Sprintf("(self.k != %d ? self.l : []).size() == 1", i+100) }), " || ")},
			spec:  numbers(19_990),
		},
		"many lists that are made": {rules: []string{strings.Join(each(300, func(i int) string { return fmt.Sprintf("self.l.map(x, x + %d) == [self.k]", i) }), " || ")}, spec: numbers(4000)},
		"many objects":             {rules: []string{"lists.range(4900).all(x, x != 4899)"}, spec: map[string]any{}, objects: 500},
	}
}

func (a *explainAttack) crd() string {
	text := attackCRDHead + `properties:
              k: {type: integer}
              l: {type: array, maxItems: 20000, items: {type: integer}}
              s: {type: array, maxItems: 100000, items: {type: string, maxLength: 20}}
            x-kubernetes-validations:
`
	for _, rule := range a.rules {
		text += fmt.Sprintf("            - {rule: %q}\n", rule)
	}
	return text
}

func (a *explainAttack) lines(t *testing.T) (lines []string) {
	for i := range max(a.objects, 1) {
		data, err := json.Marshal(map[string]any{"apiVersion": "g.io/v1", "kind": "T", "metadata": map[string]any{"name": fmt.Sprintf("hostile-%d", i)}, "spec": a.spec})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(data))
	}
	return lines
}

const (
	badCronTab = `{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "nightly"}, "spec": {"schedule": "0 3 * * *", "image": "a", "replicas": 11}}`
	explained  = "self.replicas: 11"
)

func TestAttackExplanations(t *testing.T) {
	small := tree(t, map[string]string{"m/a.yaml": badCronTab})
	_, code, resting := attacked(t, small, 0, "check", "--no-vet", "--crd", "crds", "m")
	if code != command.Findings {
		t.Fatalf("exit code %d", code)
	}
	for name, a := range explainAttacks() {
		t.Run(name, func(t *testing.T) {
			lines := a.lines(t)
			cases := "kind: RuleTest\napiVersion: celadon/v1\nname: hostile\ncrd: ../crds/t.yaml\ntests:\n"
			for i, line := range append(lines, badCronTab) {
				if i < len(lines) {
					cases += fmt.Sprintf("- {name: n%d, object: %s, expect: valid}\n", i, line)
				}
			}
			dir := tree(t, map[string]string{
				"crds/t.yaml": a.crd(), "m/t.json": strings.Join(lines, "\n") + "\n", "m/z.yaml": badCronTab,
				"tests/a.testsuite.yaml": cases,
				"tests/b.testsuite.yaml": "kind: RuleTest\napiVersion: celadon/v1\nname: honest\ncrd: ../crds/crd.yaml\ntests:\n- {name: n, object: " + badCronTab + ", expect: valid}\n",
			})
			for what, line := range map[string]struct {
				args []string
				want string
				code int
			}{
				"check":    {[]string{"check", "--no-vet", "--crd", "crds", "m"}, explained, command.Findings},
				"check -q": {[]string{"check", "-q", "--no-vet", "--crd", "crds", "m"}, `The T "hostile-0" is invalid`, command.Findings},
				"test":     {[]string{"test", "--crd", "crds", "tests"}, explained, command.Findings},
			} {
				out, code, peak := attackedThrough(t, dir, resting, "", line.args...)
				if code != line.code || !strings.Contains(out, line.want) {
					t.Errorf("%s: exit code %d, want %d and %q in:\n%.1500s\n…%s", what, code, line.code, line.want, out, out[max(0, len(out)-500):])
				}
				if peak > resting+explainMemory {
					t.Errorf("%s: %d MiB beyond a small run, want at most %d", what, (peak-resting)>>20, explainMemory>>20)
				}
			}
			a.playground(t, lines)
		})
	}
}

func (a *explainAttack) playground(t *testing.T, lines []string) {
	t.Helper()
	crontab, err := os.ReadFile(crontabCRD)
	if err != nil {
		t.Fatal(err)
	}
	r := service.New()
	for _, req := range []service.Request{
		{Do: "check", CRD: a.crd() + "---\n" + string(crontab), Object: lines[0] + "\n---\n" + badCronTab},
		{Do: "trace", CRD: a.crd(), Object: lines[0]},
	} {
		text, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		begun := cputime.Process()
		out := string(r.Answer(t.Context(), text))
		used := cputime.Process() - begun
		t.Logf("playground %s: %.1f s of processor", req.Do, used.Seconds())
		if used > attackCPU {
			t.Errorf("playground %s uses %s of processor time", req.Do, used)
		}
		if req.Do == "check" && !strings.Contains(out, `{"expr":"self.replicas","value":"11"}`) {
			t.Errorf("playground: the honest object is not explained: %.2000s", out)
		}
	}
}
