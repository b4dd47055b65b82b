package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// fixListType is the argument of :fix that replaces rules by list types.
const fixListType = "list-type"

// fix implements :fix. It sets the bounds that vet advises in all versions of the CRD, because a
// server rejects the CRD for any of its versions.
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
	if err := s.commitRules(c, st.rule); err != nil {
		return "", err
	}
	answer := printable(table(advised(r), s.Width))
	if stuck(r) {
		answer += "no bounds make some of the rules fit: run :advice for details\n"
	}
	after, err := s.vetted(ctx, c)
	if err != nil {
		return "", err
	}
	return answer + s.sharesAfter(r, after) + s.offerListTypes(after), nil
}

func (s *Session) vetted(ctx context.Context, c *crd) (*vet.Report, error) {
	return vet.VetCRD(ctx, c.def, vet.Config{KubeVersion: s.state.kube, Limits: s.limits})
}

// sharesAfter returns the shares of the limit that rules use which exceeded it before, and the share
// of all rules, in the session's version.
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

// offerListTypes lists the rules that a list type makes unnecessary.
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

// maxListTypes limits the number of rules that :fix list-type replaces.
const maxListTypes = 32

// useListTypes replaces rules that only reject duplicates by list types, in all versions.
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

// replacedByListType returns c without the rule of a lint, in each version that has it.
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

// stuck reports whether r has rules that exceed their limit whatever the bounds are.
func stuck(r *vet.Report) bool {
	return slices.ContainsFunc(r.Versions, func(v vet.Version) bool { return !v.Fixable })
}

// advised returns table rows of the bounds that r advises.
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

// runsText returns the first line of the reply to a command that executes another line.
func runsText(line string, width int) string {
	return termwidth.Fold("runs "+printable(lex.OneLine(line))+"\n", width, 5)
}
