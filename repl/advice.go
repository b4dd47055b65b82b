package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// advice implements :advice. It lists the reasons why an API server would reject the CRD, the rules
// of the current version that are too expensive, and fixes for them.
func advice(ctx context.Context, s *Session, _ string) (string, error) {
	st := s.state
	// Unknown fields are reported as warnings, so that the rest of the CRD is checked too.
	r, err := vet.Vet(ctx, st.crd.doc.JSON, vet.Config{KubeVersion: st.kube, Limits: s.limits, FieldValidation: metav1.FieldValidationWarn, Beta: true})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, key := range r.Strict {
		fmt.Fprintf(&b, "the CRD: %s: kubectl and strict servers reject it, others drop it\n", key.Message)
	}
	i := slices.IndexFunc(r.Versions, func(v vet.Version) bool { return v.Name == st.version })
	if i < 0 {
		writeCauses(&b, r, func(engine.Cause) bool { return false })
		return b.String(), nil
	}
	v := &r.Versions[i]
	writeCauses(&b, r, func(cause engine.Cause) bool { return s.isReported(cause, v, i) })
	for _, rule := range v.Rules {
		if bad := s.brokenAt(&rule); bad != nil {
			fmt.Fprintf(&b, "%s: %s: %s\n", phrase.Rule(rule.Path, rule.Index), termwidth.Cut(lex.Flat(bad.Rule), maxValue), summary(bad)+s.hint(bad))
		}
		if isExplained(&rule) {
			writeOver(&b, &rule)
		}
	}
	s.writeBounds(&b, v)
	s.writeLints(&b, r.Lints)
	if b.Len() == 0 {
		b.WriteString("nothing to fix\n")
	}
	verdict := ""
	if v.EstimatedCost > v.Limit {
		verdict = ": too expensive"
	}
	fmt.Fprintf(&b, "all rules: estimate %s, %s of the limit for version %s%s\n", phrase.Number(v.EstimatedCost), phrase.Share(v.EstimatedCost, v.Limit), v.Name, verdict)
	return termwidth.Fold(printable(b.String()), s.Width, 2), nil
}

// isReported reports whether another part of the advice covers cause: the cost of a rule or of all
// rules, or a rule that does not compile. i is the index of the version.
func (s *Session) isReported(cause engine.Cause, v *vet.Version, i int) bool {
	if cause.Field == "spec.validation.openAPIV3Schema" || cause.Field == fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i) {
		return v.EstimatedCost > v.Limit
	}
	return slices.ContainsFunc(v.Rules, func(rule vet.Rule) bool {
		if !strings.HasPrefix(cause.Field, rule.Field+".") {
			return false
		}
		bad := s.brokenAt(&rule)
		return isExplained(&rule) && cause.Type == field.ErrorTypeForbidden || bad != nil && cause.Field == rule.Field+"."+bad.Part
	})
}

// isExplained reports whether the advice explains the cost of rule.
func isExplained(rule *vet.Rule) bool { return rule.OverLimit && rule.Reason != nil }

// brokenAt returns the compile error of rule, or nil if it compiles.
func (s *Session) brokenAt(rule *vet.Rule) *engine.CompileError {
	for _, bad := range s.state.crd.broken {
		if rule.Broken && bad.Version == s.state.version && bad.Path == rule.Path && bad.Index == rule.Index {
			return bad
		}
	}
	return nil
}

// writeCauses writes the reasons why the CRD would be rejected, except those for which reported returns
// true.
func writeCauses(b *strings.Builder, r *vet.Report, reported func(engine.Cause) bool) {
	if r.Status != nil && len(r.Causes) == 0 {
		fmt.Fprintf(b, "the API server would reject the CRD: %s\n", r.Status.Message)
	}
	causes := r.Causes
	if r.Panic != nil {
		causes = []engine.Cause{*r.Panic}
	}
	for _, cause := range causes {
		if !reported(cause) {
			fmt.Fprintf(b, "the API server would reject the CRD: %s: %s\n", cause.Field, cause.Message)
		}
	}
}

// writeOver writes why rule costs too much.
func writeOver(b *strings.Builder, rule *vet.Rule) {
	total := max(rule.EstimatedTotal, rule.MessageExpressionCost)
	fmt.Fprintf(b, "%s: estimate %s, %s of the limit: %s\n", phrase.Rule(rule.Path, rule.Index), phrase.Number(total), phrase.Share(total, rule.Limit), termwidth.Cut(lex.Flat(rule.Rule), maxValue))
	if part := lex.Flat(rule.Reason.Expression); part != "" && part != lex.Flat(rule.Rule) {
		fmt.Fprintf(b, "  most of it: %s\n", termwidth.Cut(part, maxValue))
	}
	for _, f := range rule.Factors {
		if f.Bounded && f.Max > 1 {
			fmt.Fprintf(b, "  %s: %s %s, so it may run that often\n", phrase.Path(f.Path), f.Word(), phrase.Number(f.Max))
		}
	}
	for _, m := range rule.Reason.Missing {
		fmt.Fprintf(b, "  %s: no %s, so %s is assumed\n", phrase.Path(m.Path), m.Set, phrase.Number(uint64(m.Assumed)))
	}
	for _, note := range rule.Reason.Notes {
		fmt.Fprintf(b, "  note: %s\n", note)
	}
	if !rule.Reason.Fixable {
		b.WriteString("  no bounds make it fit: rewrite this part\n")
	}
}

func (s *Session) writeBounds(b *strings.Builder, v *vet.Version) {
	if len(v.Advice) == 0 {
		return
	}
	which := "all rules"
	if !v.Fixable {
		which = "the other rules"
	}
	fmt.Fprintf(b, "set these bounds in the schema, and %s fit:\n", which)
	b.WriteString(table(boundRows(v, "  ", "now"), s.Width))
}

// boundRows returns table rows of the bounds to set, with the current or previous bound in the last
// column.
func boundRows(v *vet.Version, indent, before string) (rows [][]string) {
	for _, a := range v.Advice {
		other := ""
		if a.Now > 0 {
			other = fmt.Sprintf("(%s %d)", before, a.Now)
		}
		rows = append(rows, []string{indent + phrase.Path(a.Path), fmt.Sprintf("%s: %d", a.Set, a.Value), other})
	}
	return rows
}

// writeLints writes the lints of the rules at and below the session's path, and counts the others.
func (s *Session) writeLints(b *strings.Builder, lints []vet.Lint) {
	here, elsewhere := s.state.location.pattern(), 0
	for _, l := range lints {
		if l.Version != "" && l.Version != s.state.version {
			continue
		}
		rest, below := strings.CutPrefix(l.Path, here)
		if l.Rule == "" {
			fmt.Fprintf(b, "%s (%s)\n", l.Message, l.Name)
		} else if below && (here == "" || rest == "" || rest[0] == '.' || rest[0] == '[') {
			fmt.Fprintf(b, "%s: %s (%s)\n", phrase.Rule(l.Path, l.Index), l.Message, l.Name)
		} else {
			elsewhere++
		}
	}
	if elsewhere > 0 {
		fmt.Fprintf(b, "and %s elsewhere: :cd / to see all\n", phrase.Count(elsewhere, "lint"))
	}
}
