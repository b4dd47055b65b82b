package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// countLines returns lines with the counts of a rule.
func (s *Session) countLines(n *ruleCount) []string {
	if n == nil {
		return nil
	}
	c := s.many()
	if n.objects == 0 {
		return []string{fmt.Sprintf("runs on none of %s, which are not of version %s", counted(n.others, "object"), s.state.version)}
	}
	first := fmt.Sprintf("rejects none of %s", count(n.objects))
	if n.rejected.n > 0 {
		first = fmt.Sprintf("rejects %s of %s (%s)", count(n.rejected.n), count(n.objects), s.names(c, n.rejected.first, n.rejected.n))
	}
	lines := []string{first}
	for _, part := range []struct {
		text string
		list *objectList
	}{{"fails on", &n.failed}, {"exceeds the cost limit on", &n.overBudget}, {"exceeds the work limit on", &n.undecided}, {"does not run on", &n.unprepared}} {
		if part.list.n > 0 {
			lines = append(lines, fmt.Sprintf("%s %s (%s)", part.text, count(part.list.n), s.names(c, part.list.first, part.list.n)))
		}
	}
	if n.ratcheted > 0 {
		lines = append(lines, fmt.Sprintf("is false for %s whose value does not change, which is accepted", counted(n.ratcheted, "object")))
	}
	switch {
	case n.others == 1:
		lines = append(lines, "1 object is of another version")
	case n.others > 1:
		lines = append(lines, count(n.others)+" objects are of other versions")
	}
	return lines
}

// rejectedBy lists the objects that rule n at the session's path rejects, with the messages.
func (s *Session) rejectedBy(ctx context.Context, n int) (string, error) {
	c, err := s.needMany()
	if err != nil {
		return "", err
	}
	all := s.rulesOf(s.state.location)
	i := slices.IndexFunc(all, func(r countedRule) bool { return r.index == n })
	if i < 0 {
		return "", fmt.Errorf("rule %d does not compile", n)
	}
	counts, err := s.countRules(ctx, all[i:i+1])
	if err != nil {
		return "", err
	}
	tally := counts[engine.RuleRef{Path: all[i].path, Index: n}]
	objects := slices.Concat(tally.rejected.first, tally.failed.first, tally.overBudget.first)
	total := tally.rejected.n + tally.failed.n + tally.overBudget.n
	if total == 0 {
		return strings.Join(s.countLines(tally), "\n") + "\n", nil
	}
	slices.Sort(objects)
	objects = objects[:min(len(objects), maxRows)]
	e, err := s.onlyWith(all[i : i+1])
	if err != nil {
		return "", err
	}
	rows := make([][]string, 0, len(objects))
	for _, object := range objects {
		text, err := s.rejection(ctx, e, c, int(object))
		if err != nil {
			return "", err
		}
		rows = append(rows, []string{c.name(int(object), s.state.crd.engine.Info().Namespaced), text})
	}
	text := table(rows, s.Width)
	if more := total - len(rows); more > 0 {
		text += fmt.Sprintf("and %s more\n", count(more))
	}
	return text, nil
}

// rejection returns the first cause for which the rules of e reject object i.
func (s *Session) rejection(ctx context.Context, e *engine.Engine, c *collection, i int) (string, error) {
	p, err := prepareWrite(e, s.state, c.store.Object(i), s.knownOlds().of(c.store.Head(i)))
	if err != nil {
		return printable(err.Error()), nil
	}
	_, causes, err := p.RunRules(ctx)
	var work *engine.WorkLimitError
	if err != nil && !errors.As(err, &work) {
		return "", err
	}
	if len(causes) == 0 {
		return "exceeds the cost limit of an object", nil
	}
	text := causes[0].Message
	if field := causes[0].Field; field != "" && field != "<nil>" {
		text = field + ": " + text
	}
	if more := len(causes) - 1; more > 0 {
		text += fmt.Sprintf(" (and %s more)", count(more))
	}
	if len(text) > maxNameBytes {
		text = text[:maxNameBytes]
	}
	return printable(lex.OneLine(text)), nil
}
