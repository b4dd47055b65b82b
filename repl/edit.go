package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	if s.state.crd == nil {
		return "", ErrNoCRD
	}
	before, here := s.undoPoint(), s.state.location.steps
	text, err := s.addRuleAt(ctx, path, rule)
	if err != nil {
		s.restore(before)
		return "", err
	}
	s.past[len(s.past)-1] = before.state // as if the path had not changed
	at := phrase.Path(s.state.location.pattern())
	return termwidth.Fold("at "+at+":\n", s.Width, 2) + text, s.move(here)
}

// cutRulePath cuts the argument of :add into a path and a rule. path is empty if arg is only a rule: no rule begins with a
// path and a colon.
func cutRulePath(arg string) (path, rule string) {
	path, rule, ok := strings.Cut(arg, ":")
	if !ok || path == "" || strings.ContainsAny(path, " \t\n(){}?\"'") || rule != "" && !strings.ContainsAny(rule[:1], " \t\n") {
		return "", arg
	}
	return path, strings.TrimSpace(rule)
}

// addRuleAt adds a rule at a path, and leaves the session there.
func (s *Session) addRuleAt(ctx context.Context, path, rule string) (string, error) {
	if _, err := cd(ctx, s, path); err != nil {
		return "", err
	}
	return s.addRule(ctx, rule)
}

func (s *Session) addRule(ctx context.Context, rule string) (string, error) {
	if err := s.ruleCompiles(rule, false); err != nil {
		return "", err
	}
	n := len(s.rulesHere())
	if err := s.editRule(ruleEdit{op: addRule, index: n, value: rule}); err != nil {
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
	optional := s.rulesHere()[n].OptionalOldSelf
	if err := s.ruleCompiles(rule, optional != nil && *optional); err != nil {
		return "", err
	}
	if err := s.editRule(ruleEdit{op: setField, index: n, field: "rule", value: rule}); err != nil {
		return "", err
	}
	return s.newRule(ctx, n)
}

// offered is the error of :edit N without a rule. It offers rule n as the next line, unless that has to have several lines.
func (s *Session) offered(n int) error {
	rule := s.rulesHere()[n].Rule
	line, ok := lex.Join(rule)
	if !ok {
		return fmt.Errorf("no rule given: use :edit %d RULE (current rule: %s)", n, rule)
	}
	return &incompleteError{
		fmt.Sprintf("no rule given: use :edit %d RULE (current rule: %s)", n, line),
		fmt.Sprintf(":edit %d %s", n, line),
	}
}

// newRule returns the listing of rule n and its lints after the rule was added or replaced.
func (s *Session) newRule(ctx context.Context, n int) (string, error) {
	text, err := s.oneRule(ctx, n)
	if err != nil {
		return "", err
	}
	return text + s.transitionNote(n) + s.ruleNotes(ctx, n), nil
}

// transitionNote returns, once, how to try a transition rule without an old object.
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
	if err := s.editRule(ruleEdit{op: dropRule, index: n}); err != nil {
		return "", err
	}
	return fmt.Sprintf("dropped %s\n", lex.Flat(dropped)), nil
}

// setPart returns the command that sets or removes a field of a rule.
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
		e := ruleEdit{op: setField, index: n, field: field, value: value}
		if value == "-" {
			e.op = dropField
		} else if err := s.partFits(field, value, n); err != nil {
			return "", err
		}
		if err := s.editRule(e); err != nil {
			return "", err
		}
		return s.oneRule(ctx, n)
	}
}

// target parses an optional rule number from arg and returns the rest as value. Without a number,
// it selects the rule last added or changed, or the only rule at the path.
func (s *Session) target(arg string) (n int, value string, err error) {
	first, rest, _ := strings.Cut(arg, " ")
	if _, ok := ruleNumber(first); ok {
		n, err = s.numbered(first)
		return n, strings.TrimSpace(rest), err
	}
	here := len(s.rulesHere())
	switch {
	case s.state.crd == nil:
		return 0, "", ErrNoCRD
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
	if s.state.crd == nil {
		return 0, ErrNoCRD
	}
	n, ok := ruleNumber(text)
	switch here := len(s.rulesHere()); {
	case !ok:
		return 0, fmt.Errorf("rule %q: want its number (:rules lists them)", text)
	case here == 0:
		return 0, fmt.Errorf("no rules at %s", phrase.Path(s.state.location.path()))
	case n < 0 || n >= here:
		return 0, fmt.Errorf("rule %s: %s here", text, phrase.Count(here, "rule"))
	}
	return n, nil
}

// ruleCompiles returns an error if the API server would not accept rule.
func (s *Session) ruleCompiles(rule string, optionalOldSelf bool) error {
	if s.state.crd == nil {
		return ErrNoCRD
	}
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
	switch field {
	case "message":
		if strings.ContainsAny(value, "\n\r") {
			return errors.New("a message must not contain line breaks")
		}
	case "messageExpression":
		x, err := s.compile(value, rule.OptionalOldSelf != nil && *rule.OptionalOldSelf)
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

// editRule applies e to the CRD's source, parses the result, and makes it the session's CRD. It
// returns an error if the result is not the old CRD with only this edit, or if the edited part does
// not compile.
func (s *Session) editRule(e ruleEdit) error {
	st := s.state
	if st.crd.builtins != nil {
		return errBuiltinRules
	}
	e.at = crdedit.SchemaNode{Version: st.crd.version(st.version), Steps: st.location.steps}
	doc, err := e.apply(st.crd.doc)
	if err != nil {
		return err
	}
	c, err := newCRD(doc, st.crd.config)
	if err != nil {
		return err
	}
	if err := s.newlyBroken(c, e); err != nil {
		return err
	}
	next := *st
	next.crd, next.rule = c, e.index
	if e.op == dropRule {
		next.rule = -1
	}
	return s.commit(&next, next.steps)
}

// newlyBroken returns the compile error of the edited part, or nil.
func (s *Session) newlyBroken(c *crd, e ruleEdit) error {
	if e.op == dropRule || e.op == dropField {
		return nil
	}
	pattern := s.state.location.pattern()
	for _, bad := range c.broken {
		if bad.Path == pattern && bad.Index == e.index && bad.Version == s.state.version && (bad.Part == e.field || e.field == "optionalOldSelf") {
			return fmt.Errorf("%s %q: %s", bad.Part, e.value, summary(bad))
		}
	}
	return nil
}

// oneRule returns the listing of rule n after an edit.
func (s *Session) oneRule(ctx context.Context, n int) (string, error) {
	ran, err := s.run(ctx)
	stopped := ""
	if err != nil { // the rule has changed, so an interruption is not a failure
		stopped = "the objects were not counted: run :rules to count them\n"
		ran, err = s.runOne(context.Background())
	}
	if err != nil {
		return "", err
	}
	l := s.rulesAt(s.state.location, ran, true)
	var rows [][]string
	for _, row := range l.rows {
		if row[0] == fmt.Sprint(n) || len(rows) > 0 && row[0] == "" {
			rows = append(rows, row)
		} else if len(rows) > 0 {
			break
		}
	}
	costly := slices.ContainsFunc(rows, func(row []string) bool { return row[1] == tooExpensive })
	notes := ""
	if b := s.barrierOf(s.state.location, &s.rulesHere()[n]); b != nil {
		notes = b.note(phrase.Rule(s.state.location.pattern(), n))
	}
	return (&listing{rows: rows, costly: costly, notes: notes}).text(s, s.Width) + stopped + s.requirementHints(n), nil
}

// requirementHints returns hints on what rule n still requires before an API server accepts it.
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

// nothingChanged is the reply of commands that have nothing to write.
const nothingChanged = "nothing has changed\n"

func diffCRD(_ context.Context, s *Session, _ string) (string, error) {
	c := s.state.crd
	if c == nil {
		return "", ErrNoCRD
	}
	text := linediff.Unified(c.doc.File, c.doc.File+" (unsaved)", []byte(s.saved[savedKey(c.doc)]), c.doc.Text)
	if text == nil {
		return nothingChanged, nil
	}
	return printable(string(text)), nil
}

func save(_ context.Context, s *Session, arg string) (string, error) { return s.save(arg, false) }

// saveOver saves the CRD and can overwrite an existing file.
func saveOver(_ context.Context, s *Session, arg string) (string, error) { return s.save(arg, true) }

func (s *Session) save(file string, overwrite bool) (string, error) {
	c := s.state.crd
	switch {
	case c == nil:
		return "", ErrNoCRD
	case c.builtins != nil:
		return "", errBuiltinRules
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

// losesRules reports whether the CRD has changes that were not written to any file.
func (s *Session) losesRules() bool {
	return s.Unsaved() && s.written != string(s.state.crd.doc.Text)
}
