package repl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/assist"
)

func objects(_ context.Context, s *Session, _ string) (string, error) {
	c, err := s.needMany()
	if err != nil {
		return "", err
	}
	var rows [][]string
	for i := range c.objects[:min(len(c.objects), maxRows)] {
		o := &c.objects[i]
		rows = append(rows, []string{strconv.Itoa(i), o.shown(s.state.crd.engine.Info().Namespaced), shortened(o.at())})
	}
	return table(rows, s.Width) + moreText(len(c.objects)-len(rows)), nil
}

func moreText(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("and %s more\n", count(n))
}

func objectCommand(_ context.Context, s *Session, arg string) (string, error) {
	c, err := s.needMany()
	if err != nil {
		return "", err
	}
	found := c.find(arg)
	if n, err := strconv.Atoi(arg); len(found) == 0 && err == nil && n >= 0 && n < len(c.objects) {
		found = []int{n}
	}
	switch len(found) {
	case 0:
		return "", c.notFound(arg)
	case 1:
		return "", s.current(c, found[0])
	}
	return "", fmt.Errorf("%s objects are named %s: want NAMESPACE/NAME, or a number of :objects", count(len(found)), shortened(arg))
}

// A tally counts the objects that a rule rejects. first holds the indexes of the first maxRows of them.
type tally struct {
	n     int
	first []int
}

// tallies runs all rules for the objects of the collection. It skips objects of other versions and objects that cannot
// be prepared; objects counts the rest.
func (s *Session) tallies(ctx context.Context) (all map[engine.RuleRef]*tally, objects int, err error) {
	c := s.many()
	if c == nil {
		return nil, 0, nil
	}
	all = map[engine.RuleRef]*tally{}
	for i := range c.objects {
		if ctx.Err() != nil {
			return nil, 0, errInterrupted
		}
		p, err := s.prepared(&c.objects[i])
		if err != nil || p.Version != s.state.version {
			continue // rules do not run
		}
		objects++
		results, _, err := p.RunRules(ctx)
		if err != nil && !errors.As(err, new(*engine.WorkLimitError)) {
			return nil, 0, err
		}
		for _, r := range results {
			if r.Failed <= r.Ratcheted {
				continue
			}
			ref := engine.RuleRef{Path: r.Path, Index: r.Index}
			if all[ref] == nil {
				all[ref] = &tally{}
			}
			if all[ref].n++; len(all[ref].first) < maxRows {
				all[ref].first = append(all[ref].first, i)
			}
		}
	}
	return all, objects, nil
}

func (s *Session) prepared(o *storedObject) (*engine.Prepared, error) {
	value, err := o.value()
	if err != nil {
		return nil, err
	}
	return s.state.prepareWrite(value, s.OldOf(value))
}

func (s *Session) rejectsText(v verdicts, ref engine.RuleRef) string {
	if v.objects == 0 {
		return ""
	}
	t := v.rejected[ref]
	if t == nil {
		return "rejects none of " + count(v.objects)
	}
	var names []string
	for _, i := range t.first[:min(len(t.first), maxNames+1)] {
		names = append(names, s.many().objects[i].shown(s.state.crd.engine.Info().Namespaced))
	}
	return fmt.Sprintf("rejects %s of %s (%s)", count(t.n), count(v.objects), listed(names, maxNames))
}

func (s *Session) rejectedBy(ctx context.Context, n int) (string, error) {
	c, err := s.needMany()
	if err != nil {
		return "", err
	}
	var v verdicts
	if v.rejected, v.objects, err = s.tallies(ctx); err != nil {
		return "", err
	}
	ref := engine.RuleRef{Path: s.state.location.pattern(), Index: n}
	t := v.rejected[ref]
	if t == nil {
		return s.rejectsText(v, ref) + "\n", nil
	}
	var rows [][]string
	for _, i := range t.first {
		p, err := s.prepared(&c.objects[i])
		if err != nil {
			return "", err
		}
		_, causes, err := p.RunRules(ctx)
		if err != nil && !errors.As(err, new(*engine.WorkLimitError)) {
			return "", err
		}
		text := "exceeds a limit"
		for _, cause := range causes {
			if cause.Rule != nil && cause.Rule.Path == ref.Path && cause.Rule.Index == n {
				text = strings.TrimPrefix(strings.TrimPrefix(cause.Field, "<nil>")+": "+cause.Message, ": ")
				break
			}
		}
		rows = append(rows, []string{c.objects[i].shown(s.state.crd.engine.Info().Namespaced), oneLine(text)})
	}
	return table(rows, s.Width) + moreText(t.n-len(rows)), nil
}

func completeRules(s *Session, arg string) assist.Completion {
	number, flag, second := strings.Cut(arg, " ")
	if !second {
		return wordsOf(append(s.ruleNumbers(), "all")...).Only(arg)
	}
	c := wordsOf(rejectedFlag).Only(flag)
	c.Start = len([]rune(number)) + 1
	return c
}
