package print

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// ShowPolicies writes the decisions of policies, and the webhooks that fail or are undecided. A decision with several
// actions is written once.
func ShowPolicies(b *strings.Builder, o *finding.Object) {
	for i := range o.Webhooks {
		w, effect := &o.Webhooks[i], "matchConditions fail"
		switch {
		case w.Undecided != "":
			effect = "undecided"
		case w.Error == "":
			continue
		}
		untrusted.Fprintf(b, "  --> %swebhook %s of %s %s: %s\n", before(w.File, w.Line, w.Column), w.Webhook, w.Kind, w.Configuration, effect)
		explain(b, &w.Explanation)
	}
	for i := 0; i < len(o.Policies); {
		d, actions := &o.Policies[i], []string{action(&o.Policies[i])}
		for i++; i < len(o.Policies) && sameDecision(d, &o.Policies[i]); i++ {
			actions = append(actions, action(&o.Policies[i]))
		}
		untrusted.Fprintf(b, "  --> %s%s: %s\n", before(d.File, d.Line, d.Column), policyName(d), strings.Join(actions, ", "))
		showDecision(b, o, d)
	}
	for _, text := range o.UndecidedPolicies {
		untrusted.Fprintf(b, "  --> %s\n", text)
	}
}

func showMutations(b *strings.Builder, o *finding.Object) {
	for i := range o.Mutations {
		m := &o.Mutations[i]
		effect := "changed nothing"
		switch {
		case m.Excluded:
			effect = "excluded by matchConditions"
		case m.Changed:
			effect = "changed the object"
		}
		params, again := "", ""
		if m.Params != "" {
			params = ", params " + m.Params
		}
		if m.Reinvoked {
			again = " again"
		}
		untrusted.Fprintf(b, "  --> %smutating policy %s, binding %s%s: %s%s\n", before(m.File, m.Line, m.Column), m.Policy, m.Binding, params, effect, again)
		for _, text := range m.Errors {
			if !isPrinted(o, text) {
				rule(b, "        error: ", string(Sentence(cut(o, text))))
			}
		}
		explain(b, &m.Explanation)
	}
}

func showDecision(b *strings.Builder, o *finding.Object, d *finding.PolicyDecision) {
	if !isPrinted(o, d.Message) {
		rule(b, "        message: ", string(Sentence(cut(o, d.Message))))
	}
	explain(b, &d.Explanation)
}

// explain writes nothing for the zero value.
func explain(b *strings.Builder, x *policyrequest.Explanation) {
	for _, line := range explanationDetails(x, shortened(x)) {
		untrusted.Fprintf(b, "        %s\n", line)
	}
}

func explanationDetails(x *policyrequest.Explanation, expression string) []string {
	if x.Expression == "" {
		return nil
	}
	lines := labeled("expression: ", expression)
	for _, v := range x.Values {
		lines = append(lines, "  "+v.Expr+": "+v.Text)
	}
	return append(lines, labeled("hint: ", x.Hint)...)
}

func before(file string, line, column int) string {
	if line == 0 {
		return ""
	}
	return finding.Location{File: file, Line: line, Column: column}.Place() + ": "
}

// maxExpression is the length in runes up to which an expression is written as a whole.
const maxExpression = 800

// shortened returns an explained expression. If it is long, the result is one line with the part around x.Offset.
func shortened(x *policyrequest.Explanation) string {
	text := []rune(lex.Flat(x.Expression))
	if len(text) <= maxExpression {
		return x.Expression
	}
	before := []rune(x.Expression)
	before = before[:min(len(before), x.Offset)]
	from := max(0, min(len([]rune(lex.Flat(string(before)))), len(text))-maxExpression/4)
	to := min(len(text), from+maxExpression/2)
	short := strings.TrimSpace(string(text[from:to]))
	if from > 0 {
		short = "… " + short
	}
	if to < len(text) {
		short += " …"
	}
	return short
}

// cut shortens the long expressions of policies in a message of the server.
func cut(o *finding.Object, message string) string {
	within := func(x *policyrequest.Explanation) {
		if text := strings.TrimSpace(x.Expression); len(text) > maxExpression {
			message = strings.ReplaceAll(message, text, shortened(x))
		}
	}
	for i := range o.Policies {
		within(&o.Policies[i].Explanation)
	}
	for i := range o.Mutations {
		within(&o.Mutations[i].Explanation)
	}
	return message
}

// isPrinted reports whether the output of kubectl contains a message.
func isPrinted(o *finding.Object, message string) bool {
	return o.Status != nil && strings.Contains(o.Status.Message, message) ||
		slices.ContainsFunc(o.Causes, func(c finding.Cause) bool { return strings.Contains(c.Message, message) }) ||
		slices.ContainsFunc(o.Warnings, func(warning string) bool { return strings.Contains(warning, message) })
}

func action(d *finding.PolicyDecision) string {
	if d.Action == "" {
		return "failed, but ignored because failurePolicy is Ignore"
	}
	return d.Action
}

func sameDecision(a, b *finding.PolicyDecision) bool {
	return a.Policy == b.Policy && a.Binding == b.Binding && a.Params == b.Params && a.Validation == b.Validation && a.Message == b.Message
}

func policyName(d *finding.PolicyDecision) string {
	text := fmt.Sprintf("policy %s, binding %s", d.Policy, d.Binding)
	if d.Params != "" {
		text += ", params " + d.Params
	}
	switch {
	case d.Validation >= 0:
		text += fmt.Sprintf(", spec.validations[%d]", d.Validation)
	case d.Condition != "":
		text += ", matchCondition " + d.Condition
	}
	return text
}

func (o object) decision(d *finding.PolicyDecision) finding.Finding {
	level, name := "note", title(o.Object)
	if d.Action == finding.Deny {
		level, name = "error", name+" is denied"
	}
	at := labeled("at ", strings.TrimSuffix(before(d.File, d.Line, d.Column), ": "))
	id := d.Kind + "/" + d.Policy
	if d.Validation >= 0 {
		id += fmt.Sprintf("/spec.validations[%d]", d.Validation)
	}
	description := cmp.Or(d.Expression, d.Kind+" "+d.Policy)
	message := fmt.Sprintf("%s: %s: %s: %s", name, policyName(d), action(d), d.Message)
	return o.finding(id, description, level, name, message, append(at, explanationDetails(&d.Explanation, d.Expression)...)...)
}
