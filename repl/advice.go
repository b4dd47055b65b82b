package repl

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

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

func isExplained(rule *vet.Rule) bool { return rule.OverLimit && rule.Reason != nil }

func (s *Session) brokenAt(rule *vet.Rule) *engine.CompileError {
	for _, bad := range s.state.crd.broken {
		if rule.Broken && bad.Version == s.state.version && bad.Path == rule.Path && bad.Index == rule.Index {
			return bad
		}
	}
	return nil
}

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

const fixListType = "list-type"

// fix implements :fix, except for corrections of the last line. It covers all versions of the CRD, because a server
// rejects a CRD for any of its versions.
func fix(ctx context.Context, s *Session, arg string) (string, error) {
	st := s.state
	switch {
	case arg == fixListType:
		return s.useListTypes(ctx)
	case arg != "":
		return "", fmt.Errorf(":fix %s: want %s, or no argument", arg, fixListType)
	}
	r, err := s.vetted(ctx, st.crd)
	if err != nil {
		return "", err
	}
	n := 0
	c, err := st.crd.edited(func(source *crdedit.CRD) (text []byte, err error) {
		text, n, err = source.Follow(r)
		return text, err
	})
	switch {
	case err != nil:
		return "", err
	case n == 0 && stuck(r):
		return "", errors.New("no bounds make the rules fit: run :advice for details")
	case n == 0:
		return cmp.Or(s.offerListTypes(r), "nothing to fix\n"), nil
	}
	after, err := s.vetted(ctx, c)
	if err != nil {
		return "", err
	}
	if err := s.commitRules(c, st.rule); err != nil {
		return "", err
	}
	answer := printable(table(advised(r), s.Width))
	if stuck(r) {
		answer += "no bounds make some of the rules fit: run :advice for details\n"
	}
	return answer + s.sharesAfter(r, after) + s.offerListTypes(after), nil
}

func (s *Session) vetted(ctx context.Context, c *crd) (*vet.Report, error) {
	return vet.VetCRD(ctx, c.def, vet.Config{KubeVersion: s.state.kube, Limits: s.limits})
}

func (s *Session) sharesAfter(before, after *vet.Report) string {
	var b strings.Builder
	for i := range after.Versions {
		v := &after.Versions[i]
		if v.Name != s.state.version {
			continue
		}
		for j, rule := range v.Rules {
			if before.Versions[i].Rules[j].OverLimit {
				fmt.Fprintf(&b, "%s: estimate %s, %s of the limit\n", phrase.Rule(rule.Path, rule.Index), phrase.Number(rule.EstimatedTotal), phrase.Share(rule.EstimatedTotal, rule.Limit))
			}
		}
		fmt.Fprintf(&b, "all rules: estimate %s, %s of the limit for version %s\n", phrase.Number(v.EstimatedCost), phrase.Share(v.EstimatedCost, v.Limit), v.Name)
	}
	return termwidth.Fold(b.String(), s.Width, 2)
}

func (s *Session) offerListTypes(r *vet.Report) string {
	text := ""
	for _, l := range r.Lints {
		if l.List != nil && (l.Version == "" || l.Version == s.state.version) {
			text += fmt.Sprintf("%s only rejects duplicates: run :fix %s to use %s on %s instead, without cost\n", phrase.Rule(l.Path, l.Index), fixListType, listTypeWords(l.List), phrase.Path(l.List.Path))
		}
	}
	return termwidth.Fold(printable(text), s.Width, 2)
}

func listTypeWords(l *vet.ListType) string {
	if len(l.Keys) == 0 {
		return "list type set"
	}
	return "list type map with keys " + strings.Join(l.Keys, ", ")
}

const maxListTypes = 32

func (s *Session) useListTypes(ctx context.Context) (string, error) {
	c, text := s.state.crd, ""
	for range maxListTypes {
		r, err := s.vetted(ctx, c)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(r.Lints, func(l vet.Lint) bool { return l.List != nil })
		if i < 0 {
			break
		}
		if c, err = replacedByListType(c, &r.Lints[i]); err != nil {
			return "", err
		}
		l := r.Lints[i]
		text += fmt.Sprintf("%s: %s; dropped %s\n", phrase.Path(l.List.Path), listTypeWords(l.List), lex.Flat(l.Rule))
	}
	if text == "" {
		return "", errors.New("no rule only rejects duplicates of a list: run :advice to see all lints")
	}
	return termwidth.Fold(printable(text), s.Width, 2), s.commitRules(c, -1)
}

func replacedByListType(c *crd, l *vet.Lint) (*crd, error) {
	list, err := engine.ParsePath(l.List.Path)
	if err != nil {
		return nil, err
	}
	rule, err := engine.ParsePath(l.Path)
	if err != nil {
		return nil, err
	}
	for i, v := range c.def.Spec.Versions {
		node := assist.SchemaAt(c.schema(v.Name), rule)
		if l.Version != "" && l.Version != v.Name || node == nil || l.Index >= len(node.XValidations) || node.XValidations[l.Index].Rule != l.Rule {
			continue
		}
		if c, err = c.edited(func(source *crdedit.CRD) ([]byte, error) {
			return source.ReplaceByListType(crdedit.SchemaNode{Version: i, Steps: list}, l.List.Keys, crdedit.SchemaNode{Version: i, Steps: rule}, l.Index)
		}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func stuck(r *vet.Report) bool {
	return slices.ContainsFunc(r.Versions, func(v vet.Version) bool { return !v.Fixable })
}

func advised(r *vet.Report) (rows [][]string) {
	for i := range r.Versions {
		v := &r.Versions[i]
		for _, row := range boundRows(v, "", "was") {
			if len(r.Versions) > 1 {
				row = append([]string{v.Name}, row...)
			}
			rows = append(rows, row)
		}
	}
	return rows
}
