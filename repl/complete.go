package repl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// Complete returns completions for the part of line before pos. pos is counted in code points.
// Complete does not change the session.
func (s *Session) Complete(line string, pos int) assist.Completion {
	src := []rune(line)
	src = src[:max(0, min(pos, len(src)))]
	if s.partial != "" {
		return s.completePartial(src)
	}
	if len(src) == 0 {
		return assist.Completion{Candidates: append(commandCandidates(), s.completeLine(nil).Candidates...)}
	}
	if src[0] == ':' {
		return s.completeCommand(src)
	}
	return s.completeLine(src)
}

func (s *Session) completeLine(src []rune) assist.Completion {
	if s.state.policy != "" {
		return s.policyHelper().Complete(src)
	}
	return s.helper().Complete(src)
}

func (s *Session) completePartial(src []rune) assist.Completion {
	before := []rune(s.partial + "\n")
	whole := append(slices.Clone(before), src...)
	complete := s.completeLine
	if s.partial[0] == ':' {
		complete = s.completeCommand
	}
	c := complete(whole)
	if c.Start -= len(before); c.Start < 0 {
		return assist.Completion{Start: len(src)}
	}
	return c
}

func commandCandidates() []assist.Candidate {
	var out []assist.Candidate
	for _, c := range commands() {
		text := ":" + c.name
		if c.args != "" {
			text += " "
		}
		out = append(out, assist.Candidate{Text: text, Hint: c.help})
	}
	return out
}

func (s *Session) completeCommand(src []rune) assist.Completion {
	text := string(src)
	name, arg, hasArg := strings.Cut(text, " ")
	if !hasArg {
		return assist.Completion{Candidates: commandCandidates()}.Only(text)
	}
	cmd, ok := findCommand(name[1:])
	if !ok || cmd.complete == nil {
		return assist.Completion{Start: len(src)}
	}
	start := len([]rune(name)) + 1
	c := cmd.complete(s, arg)
	c.Start += start
	return c
}

// The following functions complete arguments. arg is the text between the command's name and the
// cursor.

func completeExpression(s *Session, arg string) assist.Completion {
	return s.helper().Complete([]rune(arg))
}

func completeAdd(s *Session, arg string) assist.Completion {
	if path, _ := cutRulePath(arg); path != "" {
		return assist.Completion{Start: len([]rune(arg))}
	}
	return completeExpression(s, arg)
}

// completeNumbered returns a completer for an optional rule number and an argument. then completes the argument; it is
// nil if nothing can be offered for it.
func completeNumbered(then func(*Session, string) assist.Completion) func(*Session, string) assist.Completion {
	return func(s *Session, arg string) assist.Completion {
		first, rest, hasRest := strings.Cut(arg, " ")
		_, err := strconv.Atoi(first)
		switch {
		case then == nil && hasRest:
			return assist.Completion{Start: len([]rune(arg))}
		case then == nil:
			return wordsOf(s.ruleNumbers()...).Only(first)
		case arg == "":
			c := wordsOf(s.ruleNumbers()...)
			c.Candidates = append(c.Candidates, then(s, "").Candidates...)
			return c
		case err == nil && hasRest:
			c := then(s, rest)
			c.Start += len([]rune(first)) + 1
			return c
		}
		return then(s, arg)
	}
}

func (s *Session) ruleNumbers() []string {
	var out []string
	for i := range s.rulesHere() {
		out = append(out, fmt.Sprint(i))
	}
	return out
}

func wordsOf(texts ...string) assist.Completion {
	var c assist.Completion
	for _, text := range texts {
		c.Candidates = append(c.Candidates, assist.Candidate{Text: text})
	}
	return c
}

func completeWords(texts func(*Session) []string) func(*Session, string) assist.Completion {
	return func(s *Session, arg string) assist.Completion { return wordsOf(texts(s)...).Only(arg) }
}

func completeVersions(s *Session) []string {
	if s.state.crd == nil {
		return nil
	}
	return s.state.crd.engine.Info().Versions
}

func completeKube(*Session) []string {
	var out []string
	for minor := types.Last; minor >= types.Oldest; minor-- {
		out = append(out, types.Version{Minor: minor}.String())
	}
	return out
}

func completeFiles(s *Session, arg string) assist.Completion {
	if s.host.Files == nil {
		return assist.Completion{}
	}
	return wordsOf(s.host.Files(arg)...).Only(arg)
}

func completeLoad(s *Session, arg string) assist.Completion {
	kind, file, ok := strings.Cut(arg, " ")
	if ok && slices.Contains(loadable, kind) {
		c := completeFiles(s, file)
		c.Start = len([]rune(kind)) + 1
		return c
	}
	c := wordsOf(loadable...).Only(arg)
	c.Candidates = append(c.Candidates, completeFiles(s, arg).Candidates...)
	return c
}

var loadable = []string{"crd", "object", "old", "policy"}

func completePath(s *Session, arg string) assist.Completion {
	p := s.state.location
	if p == nil {
		return assist.Completion{}
	}
	cut := strings.LastIndexAny(arg, ".[/") // not inside a step's name, unless it is quoted
	if quoted := strings.LastIndex(arg, "['"); quoted >= 0 && !strings.Contains(arg[quoted:], "']") {
		cut = quoted
	}
	base, last := arg[:max(cut, 0)], arg[cut+1:]
	if strings.HasPrefix(arg, "/") && cut == 0 || strings.HasSuffix(base, "/") {
		base += "/"
	}
	steps, err := p.resolve(base)
	d := declAt(p.root, steps)
	if err != nil || d == nil {
		return assist.Completion{Start: len([]rune(arg))}
	}
	obj := s.state.visible(s.state.object)
	value, _ := valuediff.At(obj, concrete(obj, steps)...)
	c := assist.Completion{Start: len([]rune(arg[:cut+1]))}
	switch {
	case cut >= 0 && arg[cut] == '[':
		c.Candidates = elementSteps(d, value, "")
	case d.Kind == types.List && last == "":
		c.Start = len([]rune(arg))
		c.Candidates = elementSteps(d, value, "[")
	default:
		c.Candidates = fieldSteps(d, value, cut < 0 || arg[cut] != '.')
	}
	return c.Only(last)
}

// elementSteps returns the steps to the elements of a value of type d. open is "[", or "" if the bracket is already
// typed.
func elementSteps(d *types.Decl, value any, open string) (out []assist.Candidate) {
	if d.Elem == nil {
		return nil
	}
	add := func(step string) {
		out = append(out, assist.Candidate{Text: open + step + "]", Hint: d.Elem.String()})
	}
	list, _ := value.([]any)
	for i := range list {
		add(strconv.Itoa(i))
	}
	for _, key := range assist.Keys([]any{value}) {
		add("'" + key + "'")
	}
	add("*")
	return out
}

func fieldSteps(d *types.Decl, value any, bare bool) []assist.Candidate {
	var out []assist.Candidate
	if d.Kind == types.Map {
		for _, key := range assist.Keys([]any{value}) {
			if !strings.ContainsAny(key, ".[]'\" ") {
				out = append(out, assist.Candidate{Text: key, Hint: d.Elem.String()})
			}
		}
		return out
	}
	for _, name := range d.FieldNames() {
		text := engine.FormatPath([]engine.Step{{Name: name}})
		if bare || text[0] != '[' {
			out = append(out, assist.Candidate{Text: text, Hint: d.Fields[name].Decl.String()})
		}
	}
	return out
}
