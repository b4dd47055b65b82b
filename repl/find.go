package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/budget"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// rejectedWord is the outcome that celadon find --want calls refused.
const rejectedWord = "rejected"

var wants = []string{rejectedWord, string(search.Accepted), string(search.Errs), string(search.OverBudget)}

type found struct {
	*search.Witness
	crd  *crd
	rule engine.RuleRef
}

const useFound = "use"

func findWitness(ctx context.Context, s *Session, arg string) (string, error) {
	if arg == useFound {
		return "", s.useFound()
	}
	n, word, err := s.target(arg)
	if err != nil {
		return "", err
	}
	want, use := search.Rejected, word == useFound
	switch {
	case use && s.found.crd == s.state.crd && s.found.rule == s.ruleRef(n):
		return "", s.useFound()
	case use || word == "" || word == rejectedWord || word == string(search.Rejected):
	case slices.Contains(wants, word):
		want = search.Want(word)
	default:
		return "", fmt.Errorf(":find %s: want %s or %s", word, strings.Join(wants, ", "), useFound)
	}
	answer, err := s.search(ctx, n, want)
	switch {
	case ctx.Err() != nil:
		return "stopped: no object found so far\n", nil
	case err != nil:
		return "", err
	case answer.Witness == nil:
		return termwidth.Fold(printable(answer.Words(want))+"\n", s.Width, 2), nil
	}
	s.found = found{answer.Witness, s.state.crd, s.ruleRef(n)}
	text, err := answerText(answer, want, n, s.Width)
	if err != nil || !use {
		return text + ":find use makes it the object\n", err
	}
	return text, s.useFound()
}

func (s *Session) ruleRef(n int) engine.RuleRef {
	return engine.RuleRef{Version: s.state.version, Path: s.state.location.pattern(), Index: n}
}

func (s *Session) search(ctx context.Context, n int, want search.Want) (*analysis.Answer, error) {
	st := s.state
	a, err := analysis.New(st.crd.def, st.crd.engine, st.version, analysis.Config{CostProof: budget.Proofs(st.crd.def, st.kube, s.limits)})
	if err != nil {
		return nil, err
	}
	rules := a.Rules()
	i := slices.IndexFunc(rules, func(r engine.RuleRef) bool { return r.Path == st.location.pattern() && r.Index == n })
	if i < 0 {
		return nil, errors.New("rules under allOf, anyOf, oneOf, and not are not analyzed")
	}
	return a.Ask(ctx, rules[i], want)
}

func answerText(a *analysis.Answer, want search.Want, rule, width int) (string, error) {
	w := a.Witness
	var b strings.Builder
	b.WriteString(termwidth.Fold(printable(a.Words(want))+"\n", width, 2))
	for _, c := range w.Result.Causes {
		if want == search.OverBudget || c.Rule != nil && c.Rule.Index == rule && want != search.Accepted {
			b.WriteString(termwidth.Fold(indent(printable(c.Message)), width, 2))
			break
		}
	}
	for _, path := range a.MadeUp {
		fmt.Fprintf(&b, "  %s is a placeholder: its format is password\n", printable(path))
	}
	for _, part := range []struct {
		title string
		obj   map[string]any
	}{{"old object", w.Old}, {"new object", w.Object}} {
		if part.obj == nil {
			continue
		}
		text, err := emit.YAML(part.obj)
		if err != nil {
			return "", err
		}
		shown := printable(string(text))
		if want == search.OverBudget { // the object is large
			shown = cut(shown)
		}
		shown = indent(shown)
		if w.Old != nil {
			shown = "  " + part.title + ":\n" + indent(shown)
		}
		b.WriteString(shown)
	}
	return b.String(), nil
}

const (
	maxFoundLines   = 80
	maxFoundColumns = 300
)

func cut(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if more := len(lines) - maxFoundLines; more > 0 {
		lines = append(lines[:maxFoundLines], fmt.Sprintf("# … %s more: run :find use, then :show", phrase.Count(more, "line")))
	}
	for i, line := range lines {
		lines[i] = termwidth.Cut(line, maxFoundColumns)
	}
	return strings.Join(lines, "\n") + "\n"
}

func (s *Session) useFound() error {
	if s.found.Witness == nil {
		return errors.New("nothing found yet: run :find first")
	}
	next := *s.state
	next.old, next.version = nil, ""
	for _, part := range []struct {
		to  **object
		obj map[string]any
	}{{&next.object, s.found.Object}, {&next.old, s.found.Old}} {
		if part.obj == nil {
			continue
		}
		doc, err := generated(foundFile, part.obj)
		if err == nil {
			*part.to, err = newObject(doc)
		}
		if err != nil {
			return err
		}
	}
	return s.commit(&next, next.steps)
}

const foundFile = "(found)"
