package repl

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
)

// maxQuestion limits the length of NAME?, in bytes.
const maxQuestion = 1000

// question matches NAME?: a command after a colon, a function, or a path of names and indexes, or ? alone. A conditional
// that continues in the next line has a space before its ?, or is not a path.
var question = regexp.MustCompile(`^(:?\w*|\w+(\.\w+|\[\d+\]|\['[^']*'\]|\["[^"]*"\])*)(\(\))?\?$`)

// isQuestion reports whether line is a request for help.
func isQuestion(line string) bool { return len(line) <= maxQuestion && question.MatchString(line) }

// explain answers NAME?.
func (s *Session) explain(ctx context.Context, name string) Reply {
	var text string
	var err error
	switch {
	case name == "":
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

// explainName explains a function, a group of functions, or a field.
func (s *Session) explainName(ctx context.Context, name string) (string, error) {
	if name = strings.TrimSuffix(name, "()"); isFunction(name) {
		return funcs(ctx, s, name)
	}
	src := name
	if first, _, _ := strings.Cut(name, "."); s.state.location != nil {
		if _, ok := s.state.location.node.Decl.ByIdent(first); ok {
			src = types.Self + "." + name
		}
	}
	if s.state.policy != "" {
		return s.fieldHelp(s.policyHelper().Hover(src, lastName(src)))
	}
	if _, err := s.compile(src, false); err != nil {
		if last := name[strings.LastIndexByte(name, '.')+1:]; isFunction(last) { // a method
			return funcs(ctx, s, last)
		}
		return "", err
	}
	return s.fieldHelp(s.helper().Hover(src, lastName(src)))
}

// lastName returns the position of the last name or index in a path.
func lastName(src string) int {
	at := 0
	for _, t := range lex.Tokens([]rune(src)) {
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
	d := declAt(s.state.location.root, steps[:len(steps)-1])
	if d == nil {
		return ""
	}
	switch f := d.Fields[steps[len(steps)-1].Name]; {
	case f == nil:
		return ""
	case f.Required:
		return ", required"
	}
	return ", optional"
}
