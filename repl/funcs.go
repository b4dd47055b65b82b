package repl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/x/assist"
)

const (
	maxFound = 20
	// maxFunctionName limits the argument of :funcs, in bytes.
	maxFunctionName = 200
)

func functions(s *Session) []string { return s.funcs.Names(s.helper(), s.state.kube) }

func funcs(ctx context.Context, s *Session, arg string) (string, error) {
	if arg == "" {
		return s.allFunctions(), nil
	}
	if len(arg) > maxFunctionName {
		return "", fmt.Errorf("no function %s (:funcs lists them)", termwidth.Cut(arg, maxValue))
	}
	name := strings.TrimSuffix(arg, "()")
	text := s.function(ctx, name)
	if err := s.laterFunction(name); err != nil && text == "" {
		return "", err
	}
	group, ok := groupNamed(name)
	switch {
	case !ok && text == "":
		return s.searchFunctions(ctx, arg)
	case !ok:
		return text, nil
	case text != "":
		text += "\n"
	}
	return text + s.groupText(group, func(e *assist.FunctionEntry) bool { return e.Name != name }), nil
}

func (s *Session) available() []assist.FunctionEntry {
	names := functions(s)
	return slices.DeleteFunc(assist.FunctionIndex(), func(e assist.FunctionEntry) bool {
		return !isOperator(&e) && !slices.Contains(names, e.Name)
	})
}

func isOperator(e *assist.FunctionEntry) bool { return slices.Contains(e.Groups, "operators") }

// inGroup returns the available entries of a group, first those whose main group it is.
func (s *Session) inGroup(group string) []assist.FunctionEntry {
	all := slices.DeleteFunc(s.available(), func(e assist.FunctionEntry) bool { return !slices.Contains(e.Groups, group) })
	slices.SortStableFunc(all, func(a, b assist.FunctionEntry) int {
		return cmp.Compare(slices.Index(a.Groups, group), slices.Index(b.Groups, group))
	})
	return all
}

const funcsFoot = ":funcs NAME explains a function, :funcs GROUP a group, such as quantity, and :funcs WORD searches.\n"

func (s *Session) allFunctions() string {
	var b strings.Builder
	for _, group := range assist.FunctionGroups() {
		b.WriteString(s.groupText(group, func(e *assist.FunctionEntry) bool {
			return !slices.Contains(e.Groups, "macros") || group.Name == "macros" || group.Name == "optionals"
		}))
	}
	return b.String() + termwidth.Fold(funcsFoot, s.Width, 0)
}

func (s *Session) groupText(g assist.FunctionGroup, lists func(*assist.FunctionEntry) bool) string {
	var rows [][]string
	for _, e := range s.inGroup(g.Name) {
		if lists(&e) {
			rows = append(rows, []string{"  " + e.Name, e.Summary})
		}
	}
	if len(rows) == 0 {
		return ""
	}
	title := g.Title
	if !strings.EqualFold(title, g.Name) {
		title += " (" + g.Name + ")"
	}
	return termwidth.Fold(title+"\n", s.Width, 2) + table(rows, s.Width)
}

func groupNamed(name string) (g assist.FunctionGroup, ok bool) {
	groups := assist.FunctionGroups()
	if i := slices.IndexFunc(groups, func(g assist.FunctionGroup) bool { return g.Name == name }); i >= 0 {
		return groups[i], true
	}
	return g, false
}

func (s *Session) function(ctx context.Context, name string) string {
	entry, known := assist.FindFunction(name)
	f := s.funcs.Of(name, s.helper(), s.state.kube)
	if f == nil && (!known || !isOperator(&entry)) {
		return ""
	}
	var b strings.Builder
	if f != nil {
		var rows [][]string
		for _, form := range f.Forms {
			rows = append(rows, []string{form.Signature, form.Since})
		}
		b.WriteString(table(rows, s.Width))
	} else {
		b.WriteString(name + "\n")
	}
	b.WriteString(termwidth.Fold("  "+entry.Description+"\n", s.Width, 0))
	for _, example := range s.examples(ctx, &entry) {
		text := "  " + example.String()
		if s.Width > 0 && termwidth.Width(text) > s.Width {
			text = termwidth.Fold("  "+example.Expr+"\n", s.Width, 2) + cutLine("    // "+example.Value+", cost "+phrase.Number(example.Cost), s.Width)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// examples evaluates the examples again if the session is for a Kubernetes version, because costs differ and functions
// can be missing there.
func (s *Session) examples(ctx context.Context, e *assist.FunctionEntry) (all []assist.Example) {
	if s.state.kube == "" {
		return e.Examples
	}
	bare := &Session{limits: s.limits, state: &state{kube: s.state.kube, rule: -1}, bare: s.bare, funcs: s.funcs}
	for _, example := range e.Examples {
		if a, err := bare.Eval(ctx, example.Expr); err == nil && a.Value != nil {
			all = append(all, assist.Example{Expr: example.Expr, Value: a.Value.String(), Cost: a.Cost})
		}
	}
	return all
}

func (s *Session) searchFunctions(ctx context.Context, query string) (string, error) {
	word := strings.ToLower(query)
	found := slices.DeleteFunc(s.available(), func(e assist.FunctionEntry) bool {
		return !strings.Contains(strings.ToLower(e.Name), word) && !strings.Contains(strings.ToLower(e.Summary), word)
	})
	hint := ""
	if words := assist.NameHint(query); words != "" {
		hint = termwidth.Fold("hint: "+words+"\n", s.Width, 2)
	}
	switch {
	case len(found) == 0 && hint == "":
		return "", fmt.Errorf("no function %s%s", query, cmp.Or(spell.DidYouMean(query, functions(s)), " (:funcs lists them)"))
	case len(found) == 1 && hint == "":
		return s.function(ctx, found[0].Name), nil
	}
	var rows [][]string
	for _, e := range found[:min(maxFound, len(found))] {
		rows = append(rows, []string{e.Name, e.Summary})
	}
	text := hint + table(rows, s.Width)
	if more := len(found) - maxFound; more > 0 {
		text += fmt.Sprintf("… and %d more\n", more)
	}
	return text, nil
}

func (s *Session) laterFunction(name string) error {
	since := s.funcs.Since(name)
	if since == "" || s.state.kube == "" {
		return nil
	}
	return fmt.Errorf("%s: not in new rules for %s: want %s or later", name, s.state.kube, since)
}

func completeFuncs(s *Session, arg string) assist.Completion {
	var c assist.Completion
	for _, group := range assist.FunctionGroups() {
		c.Candidates = append(c.Candidates, assist.Candidate{Text: group.Name, Hint: "group: " + group.Title})
	}
	for _, name := range functions(s) {
		if slices.ContainsFunc(c.Candidates, func(c assist.Candidate) bool { return c.Text == name }) {
			continue
		}
		entry, _ := assist.FindFunction(name)
		c.Candidates = append(c.Candidates, assist.Candidate{Text: name, Hint: entry.Summary, Class: assist.ClassFunction})
	}
	return c.Only(arg)
}
