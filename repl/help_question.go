package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
)

// maxQuestion limits the length of NAME?, in bytes.
const maxQuestion = 1000

// isQuestion reports whether line is a request for help: NAME? with the name of a command after a
// colon, or with a path of names and indexes, or ? alone. A conditional that continues in the next line has a
// space before its ?, or is not a path.
func isQuestion(line string) bool {
	name, ok := strings.CutSuffix(line, "?")
	switch {
	case !ok || len(name) > maxQuestion:
		return false
	case strings.Trim(name, "?") == "":
		return true
	case name[0] == ':':
		return !strings.ContainsAny(name, " \t?")
	}
	if _, ok := assist.FindFunction(name); ok {
		return true
	}
	return isPath(lex.Tokens([]rune(name)), len([]rune(name)))
}

// isPath reports whether tokens, which end at end, are a name, followed by fields, indexes, and an
// optional ().
func isPath(tokens []lex.Token, end int) bool {
	if n := len(tokens); n > 2 && tokens[n-2].Text == "(" && tokens[n-1].Text == ")" && tokens[n-1].End == end {
		tokens, end = tokens[:n-2], tokens[n-3].End
	}
	if len(tokens) == 0 || tokens[0].Kind != lex.Ident || tokens[len(tokens)-1].End != end {
		return false
	}
	for i := 1; i < len(tokens); i++ {
		switch {
		case tokens[i].Text == "." && i+1 < len(tokens) && tokens[i+1].Kind == lex.Ident:
			i++
		case tokens[i].Text == "[" && i+2 < len(tokens) && tokens[i+2].Text == "]" && (tokens[i+1].Kind == lex.Number || tokens[i+1].Kind == lex.String):
			i += 2
		default:
			return false
		}
	}
	return true
}

func (s *Session) question(ctx context.Context, name string) Reply {
	var text string
	var err error
	switch {
	case strings.Trim(name, "?") == "":
		text = s.overview()
	case name[0] == ':':
		text, err = help(ctx, s, name)
	default:
		text, err = s.explainName(ctx, name)
	}
	if err != nil {
		return s.failed(err)
	}
	return Reply{Text: text}
}

// nameHelp explains a name that is neither a command nor a function: a name defined by :let, or a
// field.
func (s *Session) nameHelp(ctx context.Context, name string) (string, error) {
	if i := s.letNamed(name); i >= 0 {
		return cutLine(fmt.Sprintf("%s = %s", name, lex.Flat(s.lets[i].text)), s.Width) + "\n", nil
	}
	src := name
	if first, _, _ := strings.Cut(name, "."); s.state.location != nil && s.letNamed(first) < 0 {
		if _, ok := s.state.location.node.Decl.ByIdent(first); ok {
			src = types.Self + "." + name
		}
	}
	expanded, err := s.expand(src)
	if err != nil {
		return "", err
	}
	if s.state.policy != "" {
		return s.fieldHelp((&assist.PolicyContext{Object: s.helper(), Variables: s.state.policies.set.VariableNames(s.state.policy)}).Hover(expanded, lastName(expanded)))
	}
	if _, err := s.compile(expanded, false); err != nil {
		if last := name[strings.LastIndexByte(name, '.')+1:]; s.isFunction(last) { // a method
			return funcs(ctx, s, last)
		}
		if !strings.ContainsAny(name, ".[") && name != types.Self && name != types.OldSelf {
			return "", s.noName(name)
		}
		return "", err
	}
	return s.fieldHelp(s.helper().Hover(expanded, lastName(expanded)))
}

func (s *Session) noName(name string) error {
	known := append(functions(s), commandNames(s)...)
	for _, l := range s.lets {
		known = append(known, l.name)
	}
	if s.state.location != nil {
		known = append(known, s.state.location.node.Decl.FieldNames()...)
	}
	if near := spell.DidYouMean(name, known); near != "" {
		return fmt.Errorf("no field, function, or name %s%s", termwidth.Cut(name, maxValue), near)
	}
	return fmt.Errorf("no field, function, or name %s (:ls lists fields, :funcs functions, and :let names)", termwidth.Cut(name, maxValue))
}

// lastName returns the position of the last name or index in a path.
func lastName(src string) int {
	tokens := lex.Tokens([]rune(src))
	at := 0
	for _, t := range tokens {
		if t.Kind == lex.Ident || t.Text == "[" {
			at = t.Start
		}
	}
	return at
}

// fieldHelp describes a field: its type, whether it is required, its bounds, its description, and its
// rules.
func (s *Session) fieldHelp(h *assist.Hover) (string, error) {
	if h == nil || h.Type+h.Description+h.Bounds == "" {
		return "", errors.New("nothing is known about this name (:help lists the commands, :funcs the functions)")
	}
	facts := h.Text
	if h.Type != "" {
		facts += ": " + h.Type
	}
	if h.InObject {
		facts += s.presence(h.Path)
	}
	if h.Bounds != "" {
		facts += "; " + h.Bounds
	}
	text := termwidth.Fold(printable(facts)+"\n", s.Width, 2)
	if h.Description != "" {
		text += termwidth.Fold("  "+termwidth.Cut(printable(h.Description), maxDescription)+"\n", s.Width, 0)
	}
	if h.Schema == nil {
		return text, nil
	}
	var rows [][]string
	for i, rule := range h.Schema.XValidations {
		rows = append(rows, []string{fmt.Sprintf("  rule %d", i), printable(lex.Flat(rule.Rule))})
	}
	if len(rows) > maxFieldRules {
		more := len(rows) - maxFieldRules
		rows = append(rows[:maxFieldRules], []string{"", "… and " + phrase.Count(more, "more rule")})
	}
	return text + table(rows, s.Width), nil
}

const (
	// maxDescription limits the columns of a description.
	maxDescription = 2000
	// maxFieldRules limits the rules of a field.
	maxFieldRules = 20
)

// presence returns whether a field is required, or "" if no field has the path.
func (s *Session) presence(path string) string {
	steps, err := engine.ParsePath(path)
	if err != nil || len(steps) == 0 || s.state.location == nil {
		return ""
	}
	d := s.state.location.root
	for _, step := range steps[:len(steps)-1] {
		if d = declBelow(d, step); d == nil {
			return ""
		}
	}
	f := d.Fields[steps[len(steps)-1].Name]
	switch {
	case f == nil:
		return ""
	case f.Required:
		return ", required"
	}
	return ", optional"
}

// explainName explains a function, a group of functions, or another name.
func (s *Session) explainName(ctx context.Context, name string) (string, error) {
	if name = strings.TrimSuffix(name, "()"); s.isFunction(name) {
		return funcs(ctx, s, name)
	}
	return s.nameHelp(ctx, name)
}

// isFunction reports whether name is a function or a group of functions, in any version.
func (s *Session) isFunction(name string) bool {
	if _, ok := assist.FindFunction(name); ok {
		return true
	}
	_, ok := s.group(name)
	return ok
}
