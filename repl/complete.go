package repl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// Completion is what fits at one place of a line.
type Completion struct {
	// Start is the code point from which a candidate replaces what stands
	// before the cursor.
	Start      int
	Candidates []Candidate
}

// Candidate is one text that fits, and what it is.
type Candidate struct{ Text, Hint string }

// only keeps the candidates that begin so; where none does, those that do but
// for their case.
func (c Completion) only(prefix string) Completion {
	all := c.Candidates
	c.Candidates = nil
	for _, candidate := range all {
		if strings.HasPrefix(candidate.Text, prefix) {
			c.Candidates = append(c.Candidates, candidate)
		}
	}
	if len(c.Candidates) > 0 || prefix == "" {
		return c
	}
	for _, candidate := range all {
		if len(candidate.Text) >= len(prefix) && strings.EqualFold(candidate.Text[:len(prefix)], prefix) {
			c.Candidates = append(c.Candidates, candidate)
		}
	}
	return c
}

// Complete offers what fits at a position of a line, counted in code points. It
// depends on nothing but the session, the line and the position, and changes
// nothing.
func (s *Session) Complete(line string, pos int) Completion {
	src := []rune(line)
	src = src[:max(0, min(pos, len(src)))]
	if s.partial != "" {
		return s.completePartial(src)
	}
	if len(src) == 0 {
		return Completion{Candidates: append(commandCandidates(), s.completeExpr(nil).Candidates...)}
	}
	if src[0] == ':' {
		return s.completeCommand(src)
	}
	return s.completeExpr(src)
}

// completePartial completes in the last line of an expression over several.
func (s *Session) completePartial(src []rune) Completion {
	before := []rune(s.partial + "\n")
	whole := append(slices.Clone(before), src...)
	c := Completion{}
	if s.partial[0] == ':' {
		c = s.completeCommand(whole)
	} else {
		c = s.completeExpr(whole)
	}
	c.Start -= len(before)
	if c.Start < 0 {
		return Completion{Start: len(src)}
	}
	return c
}

func commandCandidates() []Candidate {
	var out []Candidate
	for _, c := range commands() {
		text := ":" + c.name
		if c.args != "" {
			text += " "
		}
		out = append(out, Candidate{Text: text, Hint: c.help})
	}
	return out
}

func (s *Session) completeCommand(src []rune) Completion {
	text := string(src)
	name, arg, hasArg := strings.Cut(text, " ")
	if !hasArg {
		return Completion{Candidates: commandCandidates()}.only(text)
	}
	cmd, ok := findCommand(name[1:])
	if !ok || cmd.complete == nil {
		return Completion{Start: len(src)}
	}
	start := len([]rune(name)) + 1
	c := cmd.complete(s, arg)
	c.Start += start
	return c
}

// The completers of arguments: arg is all that stands behind the command's name
// up to the cursor.

func completeExpression(s *Session, arg string) Completion {
	return s.completeExpr([]rune(arg))
}

// completeNumbered is a rule's number, then what complete says.
func completeNumbered(then func(*Session, string) Completion) func(*Session, string) Completion {
	return func(s *Session, arg string) Completion {
		first, rest, hasRest := strings.Cut(arg, " ")
		if !hasRest && (then == nil || first == "") {
			c := wordsOf(s.ruleNumbers()...).only(first)
			if then != nil {
				c.Candidates = append(c.Candidates, then(s, "").Candidates...)
			}
			return c
		}
		if then == nil {
			return Completion{Start: len([]rune(arg))}
		}
		if _, ok := ruleNumber(first); ok && hasRest {
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

func wordsOf(texts ...string) Completion {
	var c Completion
	for _, text := range texts {
		c.Candidates = append(c.Candidates, Candidate{Text: text})
	}
	return c
}

func completeWords(texts func(*Session) []string) func(*Session, string) Completion {
	return func(s *Session, arg string) Completion { return wordsOf(texts(s)...).only(arg) }
}

func completeVersions(s *Session) []string {
	if s.state.crd == nil {
		return nil
	}
	return s.state.crd.engine.Versions()
}

func completeKube(*Session) []string {
	var out []string
	for minor := types.Newest; minor >= types.Oldest; minor-- {
		out = append(out, types.Version{Minor: minor}.String())
	}
	return out
}

func completeFiles(s *Session, arg string) Completion {
	if s.host.Files == nil {
		return Completion{}
	}
	return wordsOf(s.host.Files(arg)...).only(arg)
}

func completeLoad(s *Session, arg string) Completion {
	what, file, ok := strings.Cut(arg, " ")
	if ok && slices.Contains(loadable, what) {
		c := completeFiles(s, file)
		c.Start = len([]rune(what)) + 1
		return c
	}
	c := wordsOf(loadable...).only(arg)
	c.Candidates = append(c.Candidates, completeFiles(s, arg).Candidates...)
	return c
}

var loadable = []string{"crd", "object", "old"}

// completePath offers the next step of a path.
func completePath(s *Session, arg string) Completion {
	p := s.state.place
	if p == nil {
		return Completion{}
	}
	cut := strings.LastIndexAny(arg, ".[/") // never inside a step's name but a quoted one
	if quoted := strings.LastIndex(arg, "['"); quoted >= 0 && !strings.Contains(arg[quoted:], "']") {
		cut = quoted
	}
	base, last := arg[:max(cut, 0)], arg[cut+1:]
	if strings.HasPrefix(arg, "/") && cut == 0 || strings.HasSuffix(base, "/") {
		base += "/"
	}
	bracket := cut >= 0 && arg[cut] == '['
	f := s.pathTo(base)
	d, values := f.decl, f.values
	if d == nil {
		return Completion{Start: len([]rune(arg))}
	}
	c := Completion{Start: len([]rune(arg[:cut+1]))}
	switch {
	case bracket:
		c.Candidates = elementSteps(d, values)
	case d.Kind == types.List && last == "":
		c.Start = len([]rune(arg))
		for _, step := range elementSteps(d, values) {
			c.Candidates = append(c.Candidates, Candidate{Text: "[" + step.Text, Hint: step.Hint})
		}
	default:
		c.Candidates = fieldSteps(d, values, cut < 0 || arg[cut] != '.')
	}
	return c.only(last)
}

// pathTo is what a path leads to; found.decl is nil where it leads nowhere.
func (s *Session) pathTo(arg string) found {
	p := s.state.place
	steps, err := p.resolve(arg)
	if err != nil {
		return found{}
	}
	d := p.root
	for _, step := range steps {
		if d = below(d, step); d == nil {
			return found{}
		}
	}
	f := found{decl: d, schema: schemaAt(s.state.crd.schema(s.state.version), steps)}
	obj := s.state.visible(s.state.object)
	if v, ok := valueAt(obj, concrete(obj, steps)); ok {
		f.values = []any{v}
	}
	return f
}

func elementSteps(d *types.Decl, values []any) []Candidate {
	var out []Candidate
	if d.Elem == nil {
		return nil
	}
	hint := d.Elem.String()
	for _, v := range values {
		if list, ok := v.([]any); ok {
			for i := range list {
				out = append(out, Candidate{Text: fmt.Sprintf("%d]", i), Hint: hint})
			}
		}
	}
	for _, key := range mapKeys(values) {
		out = append(out, Candidate{Text: "'" + key + "']", Hint: hint})
	}
	return append(out, Candidate{Text: "*]", Hint: hint})
}

func fieldSteps(d *types.Decl, values []any, bare bool) []Candidate {
	var out []Candidate
	if d.Kind == types.Map {
		for _, key := range mapKeys(values) {
			if !strings.ContainsAny(key, ".[]'\" ") {
				out = append(out, Candidate{Text: key, Hint: d.Elem.String()})
			}
		}
		return out
	}
	for _, name := range d.FieldNames() {
		text := engine.FormatPath([]engine.Step{{Name: name}})
		if bare || text[0] != '[' {
			out = append(out, Candidate{Text: text, Hint: d.Fields[name].Decl.String()})
		}
	}
	return out
}

// completeSet is a path, then a value that fits.
func completeSet(s *Session, arg string) Completion {
	path, value, ok := strings.Cut(arg, "=")
	if !ok || s.state.place == nil {
		return completePath(s, arg)
	}
	trimmed := strings.TrimLeft(value, " ")
	c := Completion{Start: len([]rune(arg)) - len([]rune(trimmed))}
	f := s.pathTo(strings.TrimSpace(path))
	for _, text := range enumValues(f.schema) {
		c.Candidates = append(c.Candidates, Candidate{Text: formatJSON(text)})
	}
	if f.decl != nil && f.decl.Kind == types.Bool {
		c.Candidates = wordsOf("false", "true").Candidates
	}
	return c.only(trimmed)
}

// completeLet is an expression behind the name.
func completeLet(s *Session, arg string) Completion {
	before, text, ok := strings.Cut(arg, "=")
	if !ok {
		return Completion{Start: len([]rune(arg))}
	}
	c := s.completeExpr([]rune(text))
	c.Start += len([]rune(before)) + 1
	return c
}

// completeOld is what :old can do, then a path.
func completeOld(s *Session, arg string) Completion {
	what, rest, ok := strings.Cut(arg, " ")
	if !ok {
		return wordsOf("copy", "none", "set", "show", "unset").only(arg)
	}
	c := completeSet(s, rest)
	c.Start += len([]rune(what)) + 1
	return c
}
