package ruletest

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

const exampleFolder = "../../examples/crontab/"

const exampleOpenShift = `name: CronTab
crdName: crontabs.stable.example.com
version: v1
featureGates: []
tests:
  onCreate:
  - name: minimal
    initial: |
      apiVersion: stable.example.com/v1
      kind: CronTab
      spec: {schedule: "* * * * *", image: a}
    expected: |
      apiVersion: stable.example.com/v1
      kind: CronTab
      spec: {schedule: "* * * * *", image: a, replicas: 1, maxReplicas: 10}
  - name: five fields
    resourceName: a
    useGenerateName: true
    initial: |
      apiVersion: stable.example.com/v1
      kind: CronTab
      spec: {schedule: "@daily", image: a}
    expectedError: must have five fields
  onUpdate:
  - name: ratcheted
    initialCRDPatches:
    - op: remove
      path: /spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations
    initial: |
      apiVersion: stable.example.com/v1
      kind: CronTab
      spec: {schedule: "* * * * *", image: a, replicas: 11}
    updated: |
      apiVersion: stable.example.com/v1
      kind: CronTab
      spec: {schedule: "* * * * *", image: a, replicas: 11}
      status: {phase: Sleeping}
    expectedStatusError: Unsupported value
`

func exampleSuites(t testing.TB) []string {
	t.Helper()
	own, err := os.ReadFile(exampleFolder + "tests/crontab.testsuite.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return []string{string(own), exampleOpenShift}
}

func exampleCRD(t testing.TB) []*CRD {
	return []*CRD{{File: "crd.yaml", Definition: corpus.ReadCRD(t, exampleFolder+"crd.yaml")}}
}

func structure(n *position.Node, yield func(key, value *position.Node)) {
	for i, item := range n.Items {
		if n.Kind != position.Mapping {
			structure(item, yield)
			continue
		}
		yield(n.Keys[i], item)
		switch n.Keys[i].Value {
		case "base", "object", "patch", "oldPatch", "params":
		default:
			structure(item, yield)
		}
	}
}

// No mutated suite may pass.
func mutilations(t testing.TB, text string) map[string]string {
	doc, err := position.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	structure(doc.Root, func(key, value *position.Node) {
		at := fmt.Sprintf("%d %s ", doc.Position(key.Start).Line, key.Value)
		replaced := func(n *position.Node, by string) string { return text[:n.Start] + by + text[n.End:] }
		all[at+"misspelt"] = replaced(key, key.Value+"_")
		all[at+"in capitals"] = replaced(key, strings.ToUpper(key.Value))
		all[at+"of another script"] = replaced(key, key.Value+"\u0435")
		all[at+"as a number"] = replaced(key, "7")
		if value.Kind == position.Scalar {
			all[at+"a mapping"] = replaced(value, "{no: {such: thing}}")
			all[at+"a list"] = replaced(value, "[[no, such], thing]")
			all[at+"an alias of nothing"] = replaced(value, "*nothing")
			all[at+"an open quote"] = replaced(value, `"open`)
			all[at+"an open bracket"] = replaced(value, `[open`)
		} else {
			all[at+"a number"] = replaced(value, "7")
			all[at+"a text"] = replaced(value, "text")
		}
	})
	lines := strings.SplitAfter(text, "\n")
	for i := 1; i < len(lines); i++ {
		if strings.HasPrefix(strings.TrimSpace(lines[i]), "#") || i == len(lines)-1 {
			continue
		}
		before, after := strings.Join(lines[:i], ""), strings.Join(lines[i:], "")
		for name, garbage := range map[string]string{"a bracket": "] }\n", "a key": "nosuch: key\n", "an item": "- item\n", "a control": "\x01\n"} {
			all[fmt.Sprintf("%d before it %s", i+1, name)] = before + garbage + after
		}
	}
	return all
}

func TestMutilatedSuites(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	r, crds := New(Config{Policies: policiesOf(t, replicaLimit)}), exampleCRD(t)
	tried, errors := 0, 0
	for _, text := range append(exampleSuites(t), policyExample) {
		if s := summaryOf(t, r, crds, text); s.Errors > 0 || s.Failed > 0 || s.Passed < 3 {
			t.Fatalf("the whole suite: %+v", s)
		}
		for name, spoilt := range mutilations(t, text) {
			tried++
			s := summaryOf(t, r, crds, spoilt)
			if s.Errors > 0 {
				errors++
			} else if s.Failed == 0 && s.Passed > 0 {
				t.Errorf("%s: passes", name)
			}
		}
	}
	t.Logf("%d tried, %d errors", tried, errors)
	if tried < 1000 {
		t.Errorf("%d tried: want 1000", tried)
	}
}

func summaryOf(t testing.TB, r *Runner, crds []*CRD, text string) Summary {
	t.Helper()
	var sum Summary
	s := Parse("suite.yaml", 1, []byte(text))
	lines := strings.Count(text, "\n") + 1
	report := r.Run(t.Context(), s, crds, nil)
	sum.Add(report)
	placed := func(at Position, message string) {
		if at.Line < 1 || at.Line > lines || at.Column < 1 || message == "" {
			t.Errorf("%d:%d: %q: no place", at.Line, at.Column, message)
		}
	}
	for _, p := range report.Errors {
		placed(p.Position, p.Message)
	}
	for _, c := range report.Cases {
		placed(c.Position, cmp.Or(c.Message, string(c.Outcome)))
		if c.Bug != nil {
			t.Errorf("%s: %v", c.Name, c.Bug)
		}
	}
	return sum
}

func FuzzSuite(f *testing.F) {
	for _, text := range exampleSuites(f) {
		f.Add(text)
	}
	f.Add("kind: RuleTest\napiVersion: celadon/v1\nbase: &b {apiVersion: stable.example.com/v1, kind: CronTab, metadata: {name: a}, spec: *b}\ntests: [{name: a, patch: {<<: *b}, expect: {causes: [{message: ~(}]}}]\n")
	f.Add("crdName: crontabs.stable.example.com\ntests: {onCreate: [{name: a, initial: \"a: &a [*a]\", expected: b}], onCreate: []}\n")
	f.Add("crdName: crontabs.stable.example.com\ntests: {onUpdate: [{name: a, initial: '{kind: CronTab, apiVersion: stable.example.com/v1}', updated: '{}', expectedError: x, initialCRDPatches: [{op: copy, from: /spec, path: /spec/spec}, {op: add, path: /spec/versions/-, value: {}}]}]}\n")
	f.Add(`{"kind":"RuleTest","apiVersion":"celadon/v1","tests":[{"name":"é","object":{"apiVersion":"stable.example.com/v1","kind":"CronTab"},"expect":{"causes":[{"field":"spec"}]}}]}`)
	f.Add(policyExample)
	r, crds := New(Config{Fill: true, Policies: policiesOf(f, replicaLimit)}), exampleCRD(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		summaryOf(t, r, crds, text)
		s := Parse("suite.yaml", 1, []byte(text))
		report := r.Run(t.Context(), s, crds, nil)
		edited, changed, _ := s.Update(report)
		if changed == 0 {
			return
		}
		after := Parse("suite.yaml", 1, edited)
		again, changed, errs := after.Update(r.Run(t.Context(), after, crds, nil))
		if changed > 0 && string(again) != string(edited) {
			t.Errorf("%d cases change again (%v):\n%s\n---\n%s\n---\n%s", changed, errs, text, edited, again)
		}
	})
}
