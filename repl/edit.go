package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/linediff"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
	"github.com/google/cel-go/cel"
)

func addCommand(ctx context.Context, s *Session, arg string) (string, error) {
	path, rule := cutRulePath(arg)
	if rule == "" {
		return "", errors.New("no argument given: use :add RULE, or :add PATH: RULE")
	}
	if path == "" {
		return s.addRule(ctx, rule)
	}
	here, text := s.state.location.steps, ""
	err := s.asOne(func() (err error) {
		if _, err = cd(ctx, s, path); err == nil {
			text, err = s.addRule(ctx, rule)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	at := phrase.Path(s.state.location.pattern())
	_, err = cd(ctx, s, "/"+engine.FormatPath(here))
	return termwidth.Fold("at "+at+":\n", s.Width, 2) + text, err
}

// cutRulePath cuts the argument of :add into a path and a rule. path is empty if arg is only a rule: no rule
// begins with a path and a colon.
func cutRulePath(arg string) (path, rule string) {
	path, rule, ok := strings.Cut(arg, ":")
	if !ok || path == "" || strings.ContainsAny(path, " \t\n(){}?\"'") || rule != "" && !strings.ContainsAny(rule[:1], " \t\n") {
		return "", arg
	}
	return path, strings.TrimSpace(rule)
}

func (s *Session) addRule(ctx context.Context, rule string) (string, error) {
	if err := s.ruleCompiles(rule, false); err != nil {
		return "", err
	}
	n := len(s.rulesHere())
	c, err := s.editedCRD(func(source *crdedit.CRD, at crdedit.SchemaNode) ([]byte, error) { return source.AddRule(at, rule) })
	if err == nil {
		err = s.commitRules(c, n)
	}
	if err != nil {
		return "", err
	}
	return s.newRule(ctx, n)
}

func edit(ctx context.Context, s *Session, arg string) (string, error) {
	first, rule, _ := strings.Cut(arg, " ")
	n, err := s.numbered(first)
	if err != nil {
		return "", err
	}
	if rule = strings.TrimSpace(rule); rule == "" {
		return "", s.offered(n)
	}
	if err := s.ruleCompiles(rule, expr.HasOptionalOldSelf(s.rulesHere()[n].OptionalOldSelf)); err != nil {
		return "", err
	}
	if err := s.setField(n, "rule", rule); err != nil {
		return "", err
	}
	return s.newRule(ctx, n)
}

// offered returns the error of :edit N without a rule. It offers rule n as the next line, unless the rule cannot be
// written on one line.
func (s *Session) offered(n int) error {
	rule := s.rulesHere()[n].Rule
	line, ok := lex.Join(rule)
	draft := fmt.Sprintf(":edit %d %s", n, line)
	if !ok {
		line, draft = rule, ""
	}
	return &incompleteError{fmt.Sprintf("no rule given: use :edit %d RULE (current rule: %s)", n, line), draft}
}

func (s *Session) newRule(ctx context.Context, n int) (string, error) {
	text, err := s.oneRule(ctx, n)
	if err != nil {
		return "", err
	}
	return text + s.transitionNote(n) + s.lintNotes(ctx, s.rulesHere()[n], fmt.Sprintf(":edit %d ", n)), nil
}

func (s *Session) transitionNote(n int) string {
	rule := s.rulesHere()[n]
	x, err := s.state.location.compile(rule.Rule, rule.OptionalOldSelf)
	if err != nil || !x.UsesOldSelf() || s.barrierOf(s.state.location, &rule) != nil || s.state.object == nil || s.state.old != nil || s.oldNoted {
		return ""
	}
	s.oldNoted = true
	return termwidth.Fold("note: this rule runs on updates: to try it, run :old copy, and change the object with :set\n", s.Width, 2)
}

func drop(_ context.Context, s *Session, arg string) (string, error) {
	n, err := s.numbered(arg)
	if err != nil {
		return "", err
	}
	dropped := s.rulesHere()[n].Rule
	c, err := s.editedCRD(func(source *crdedit.CRD, at crdedit.SchemaNode) ([]byte, error) { return source.DropRule(at, n) })
	if err == nil {
		err = s.commitRules(c, -1)
	}
	return fmt.Sprintf("dropped %s\n", lex.Flat(dropped)), err
}

func setPart(field string) func(context.Context, *Session, string) (string, error) {
	return func(ctx context.Context, s *Session, arg string) (string, error) {
		n, value, err := s.target(arg)
		if err != nil {
			return "", err
		}
		if value == "" {
			cmd, _ := findCommand(field)
			return "", fmt.Errorf("no %s given: use :%s %s, or - to remove it", field, field, cmd.args)
		}
		if err := s.partFits(field, value, n); err != nil {
			return "", err
		}
		if err := s.setField(n, field, value); err != nil {
			return "", err
		}
		return s.oneRule(ctx, n)
	}
}

// target parses an optional rule number from arg and returns the rest as value. Without a number, it selects the rule
// last added or changed, or the only rule at the path.
func (s *Session) target(arg string) (n int, value string, err error) {
	first, rest, _ := strings.Cut(arg, " ")
	if _, err := strconv.Atoi(first); err == nil {
		n, err = s.numbered(first)
		return n, strings.TrimSpace(rest), err
	}
	here := len(s.rulesHere())
	switch {
	case here == 0:
		return 0, "", fmt.Errorf("no rules at %s: add one with :add RULE", phrase.Path(s.state.location.path()))
	case s.state.rule >= 0 && s.state.rule < here:
		return s.state.rule, arg, nil
	case here == 1:
		return 0, arg, nil
	}
	return 0, "", fmt.Errorf("%d rules at this path: want a rule number first", here)
}

func (s *Session) numbered(text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch here := len(s.rulesHere()); {
	case err != nil:
		return 0, fmt.Errorf("rule %q: want its number (:rules lists them)", text)
	case here == 0:
		return 0, fmt.Errorf("no rules at %s", phrase.Path(s.state.location.path()))
	case n < 0 || n >= here:
		return 0, fmt.Errorf("rule %s: %s here", text, phrase.Count(here, "rule"))
	}
	return n, nil
}

func (s *Session) ruleCompiles(rule string, optionalOldSelf bool) error {
	x, err := s.compile(rule, optionalOldSelf)
	if err != nil {
		return err
	}
	if x.Type() != cel.BoolType {
		return fmt.Errorf("a rule must be a boolean (got %s)", assist.TypeWords(x))
	}
	return nil
}

func (s *Session) partFits(field, value string, n int) error {
	rule := s.rulesHere()[n]
	if value == "-" {
		return nil
	}
	switch field {
	case "message":
		if strings.ContainsAny(value, "\n\r") {
			return errors.New("a message must not contain line breaks")
		}
	case "messageExpression":
		x, err := s.compile(value, expr.HasOptionalOldSelf(rule.OptionalOldSelf))
		if err != nil {
			return err
		}
		if x.Type() != cel.StringType {
			return fmt.Errorf("a messageExpression must be a string (got %s)", assist.TypeWords(x))
		}
	case "reason":
		if !slices.Contains(reasons, value) {
			return fmt.Errorf("reason %q: want %s", value, strings.Join(reasons, ", "))
		}
	case "optionalOldSelf":
		if value != "true" {
			return fmt.Errorf("optionalOldSelf %q: want true, or - to remove it", value)
		}
		return s.ruleCompiles(rule.Rule, true)
	}
	return nil
}

// setField sets a field of rule n, or removes it if value is "-".
func (s *Session) setField(n int, field, value string) error {
	c, err := s.editedCRD(func(source *crdedit.CRD, at crdedit.SchemaNode) ([]byte, error) {
		switch {
		case value == "-":
			return source.DropPart(at, n, field)
		case field == "optionalOldSelf":
			return source.SetPart(at, n, field, true)
		}
		return source.SetPart(at, n, field, value)
	})
	if err != nil {
		return err
	}
	for _, bad := range c.broken {
		ref := bad.RuleRef
		if ref.Rule = ""; value != "-" && ref == s.ruleRef(n) && (bad.Part == field || field == "optionalOldSelf") {
			return fmt.Errorf("%s %q: %s", bad.Part, value, summary(bad))
		}
	}
	return s.commitRules(c, n)
}

func (s *Session) editedCRD(edit func(source *crdedit.CRD, at crdedit.SchemaNode) ([]byte, error)) (*crd, error) {
	at := crdedit.SchemaNode{Version: s.state.crd.version(s.state.version), Steps: s.state.location.steps}
	return s.state.crd.edited(func(source *crdedit.CRD) ([]byte, error) { return edit(source, at) })
}

func (c *crd) edited(edit func(source *crdedit.CRD) ([]byte, error)) (*crd, error) {
	doc, err := c.doc.edited(edit)
	if err != nil {
		return nil, err
	}
	return newCRD(doc, c.config)
}

// commitRules makes c the session's CRD. rule is the index of the rule added or changed, or -1.
func (s *Session) commitRules(c *crd, rule int) error {
	next := *s.state
	next.crd, next.rule = c, rule
	return s.commit(&next, next.steps)
}

func (s *Session) oneRule(ctx context.Context, n int) (string, error) {
	ran, err := s.run(ctx)
	stopped := ""
	if err != nil { // the rule has changed, so an interruption is not a failure
		stopped = "the objects were not counted: run :rules to count them\n"
		ran.ran, err = s.runOne(context.Background())
	}
	if err != nil {
		return "", err
	}
	return s.rulesAt(s.state.location, ran, true, n).text(s.Width) + stopped + s.requirementHints(n), nil
}

func (s *Session) requirementHints(n int) string {
	rule, text := s.rulesHere()[n], ""
	if rule.Message == "" && strings.ContainsAny(rule.Rule, "\n\r") {
		text += "a multi-line rule must have a message: set it with :message TEXT\n"
	}
	if rule.OptionalOldSelf != nil {
		if x, err := s.compile(rule.Rule, *rule.OptionalOldSelf); err == nil && !x.UsesOldSelf() {
			text += "a rule with optionalOldSelf must use oldSelf: change it with :edit\n"
		}
	}
	return termwidth.Fold(text, s.Width, 2)
}

const nothingChanged = "nothing has changed\n"

func diffCRD(_ context.Context, s *Session, _ string) (string, error) {
	c := s.state.crd
	text := linediff.Unified(c.doc.File, c.doc.File+" (unsaved)", []byte(s.saved[savedKey(c.doc)]), c.doc.Text)
	if text == nil {
		return nothingChanged, nil
	}
	return printable(string(text)), nil
}

func save(_ context.Context, s *Session, arg string) (string, error) { return s.save(arg, false) }

func saveOver(_ context.Context, s *Session, arg string) (string, error) { return s.save(arg, true) }

func (s *Session) save(file string, overwrite bool) (string, error) {
	c := s.state.crd
	switch {
	case s.host.Save == nil:
		return "", errNoFiles
	case file == "" && !s.Unsaved():
		return nothingChanged, nil
	}
	r := SaveRequest{Document: c.doc, Text: c.doc.Text, File: file, Overwrite: overwrite}
	r.Document.Text = []byte(s.saved[savedKey(c.doc)])
	for _, o := range []*object{s.state.object, s.state.old} {
		if o != nil && o.file != "" {
			r.Keep = append(r.Keep, o.file)
		}
	}
	written, err := s.host.Save(r)
	if err != nil {
		return "", err
	}
	if written == c.doc.File {
		s.saved[savedKey(c.doc)] = string(c.doc.Text)
	}
	s.written = string(c.doc.Text)
	return fmt.Sprintf("wrote %s\n", written), nil
}

// losesRules reports whether quitting would lose changes of the CRD that are neither in its file nor in the file that
// was saved last.
func (s *Session) losesRules() bool {
	return s.Unsaved() && s.written != string(s.state.crd.doc.Text)
}
