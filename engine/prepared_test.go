package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// mixed has rules at spec for each outcome: false, an error, more work than the limit, and a cost over the limit.
var mixed = strings.Replace(widgets, `- {rule: "self.size < 100"}`, `- {rule: "self.size < 100"}
            - {rule: "self.size / (self.size - 2) > 0"}
            - {rule: "!has(self.note) || self.note.replace('', self.note).size() > 0 || true"}
            - {rule: "!has(self.tags) || self.tags.all(a, self.tags.all(b, self.tags.all(c, self.tags.all(d, a + b + c + d != ''))))"}`, 1)

func TestRuleOutcomes(t *testing.T) {
	t.Parallel()
	e, err := engine.Compile(crd(t, mixed), engine.Config{})
	var expensive *engine.CompileErrors
	if err != nil && !errors.As(err, &expensive) {
		t.Fatal(err)
	}
	var tags []any
	for i := range 60 {
		tags = append(tags, fmt.Sprint(i))
	}
	for name, test := range map[string]struct {
		spec, old string
		note      string
		tags      []any
		rule      string
		want      string // failed, errors, ratcheted, undecided, over budget
		causes    int
	}{
		"true":      {spec: `{size: 1}`, rule: "self.size < 100", want: "0 0 0 0 false"},
		"false":     {spec: `{size: 100}`, rule: "self.size < 100", want: "1 0 0 0 false", causes: 1},
		"ratcheted": {spec: `{size: 100}`, old: `{size: 100}`, rule: "self.size < 100", want: "1 0 1 0 false"},
		"error":     {spec: `{size: 2}`, rule: "self.size / (self.size - 2) > 0", want: "1 1 0 0 false", causes: 1},
		"undecided": {spec: `{size: 1}`, note: strings.Repeat("x", 100_000), rule: "!has(self.note)", want: "0 0 0 1 false"},
		"budget":    {spec: `{size: 1}`, tags: tags, rule: "!has(self.tags)", want: "1 1 0 0 true", causes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := engine.Request{Object: object(t, widget(test.spec))}
			spec := req.Object["spec"].(map[string]any)
			if test.note != "" {
				spec["note"] = test.note
			}
			if test.tags != nil {
				spec["tags"] = test.tags
			}
			if test.old != "" {
				req.OldObject = object(t, widget(test.old))
			}
			p, err := e.Prepare(req)
			if err != nil {
				t.Fatal(err)
			}
			var work *engine.WorkLimitError
			results, causes, err := p.RunRules(t.Context())
			if err != nil && !errors.As(err, &work) {
				t.Fatal(err)
			}
			got := "did not run"
			for _, r := range results {
				if strings.HasPrefix(r.Rule, test.rule) {
					got = fmt.Sprint(r.Failed, r.Errors, r.Ratcheted, r.Undecided, r.OverBudget)
				}
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			n := 0
			for _, c := range causes {
				if c.Rule != nil && strings.HasPrefix(c.Rule.Rule, test.rule) {
					n++
				}
			}
			if n != test.causes {
				t.Errorf("%d causes of the rule, want %d: %+v", n, test.causes, causes)
			}
		})
	}
}
