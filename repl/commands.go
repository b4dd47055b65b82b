package repl

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/x/assist"
)

type command struct {
	name, args, help string
	// run is nil for quit.
	run   func(ctx context.Context, s *Session, arg string) (string, error)
	needs need
	// expression is set if the last argument is an expression, which can continue in the next line.
	expression bool
	// removes is set if a - instead of the expression removes it.
	removes  bool
	complete func(s *Session, arg string) assist.Completion
}

type need uint8

const (
	needsNothing need = iota
	needsCRD
	needsObject
	needsRules
)

func (s *Session) lacks(n need) error {
	switch {
	case n != needsNothing && s.state.crd == nil:
		return ErrNoCRD
	case n == needsObject && s.state.object == nil:
		return errNoObject
	case n == needsRules && s.state.crd.builtins != nil:
		return errBuiltinRules
	}
	return nil
}

func commands() []command {
	var all []command
	for _, group := range commandGroups() {
		all = append(all, group.commands...)
	}
	return all
}

func commandGroups() []commandGroup {
	return []commandGroup{
		{"Look around", []command{
			{name: "load", args: "[crd|object|old|policy] FILE", help: "load a CRD, an object, its old form, or admission policies", run: load, complete: completeLoad},
			{name: "use", args: "VERSION", help: "switch to a version of the CRD", run: use, needs: needsCRD, complete: completeWords(completeVersions)},
			{name: "kube", args: "[VERSION]", help: "write rules for a Kubernetes version", run: kube, complete: completeWords(completeKube)},
			{name: "cd", args: "[PATH]", help: "make self the value at a path; .. is up, / the root", run: cd, needs: needsCRD, complete: completePath},
			{name: "ls", args: "[PATH]", help: "list fields with types, bounds, and rules", run: ls, needs: needsCRD, complete: completePath},
			{name: "pwd", help: "print the current path", run: pwd, needs: needsCRD},
			{name: "show", args: "[PATH]", help: "print the object here, as rules see it", run: showValue, needs: needsCRD, complete: completePath},
			{name: "type", args: "EXPR", help: "print an expression's type", run: typeOf, expression: true, complete: completeExpression},
			{name: "cost", args: "EXPR", help: "print an expression's cost estimate and the bounds that would lower it", run: costOf, expression: true, complete: completeExpression},
			{name: "explain", args: "EXPR", help: "print the value and the cost of every part", run: explain, expression: true, complete: completeExpression},
			{name: "funcs", args: "[NAME|GROUP|WORD]", help: "list the functions, explain a function or a group, or search for a word", run: funcs, complete: completeFuncs},
		}},
		{"Object", []command{
			{name: "set", args: "PATH = JSON|preview on|off", help: "change the object, or turn the preview of values on or off", run: setCommand, complete: completePath},
			{name: "unset", args: "PATH", help: "remove a value from the object", run: unset, needs: needsCRD, complete: completePath},
			{name: "old", args: "[set PATH = JSON|unset PATH|copy|none]", help: "show or change the old object; copy makes it the object", run: oldObject, complete: completeWords(func(*Session) []string { return []string{"copy", "none", "set", "show", "unset"} })},
			{name: "as", args: "[status|object|apply|user NAME]", help: "evaluate another kind of write, or the writes of a user", run: writeAs, needs: needsCRD, complete: completeWords(func(*Session) []string { return []string{"apply", "object", statusName, "user"} })},
			{name: "check", help: "validate the object as celadon check does", run: check, needs: needsObject},
			{name: "policy", args: "[NAME|delete|-]", help: "print what the policies decide about the object or its deletion; NAME gives expressions the variables of a policy", run: policyCommand, complete: completeWords(func(s *Session) []string { return append(s.state.policies.names(), "delete", "-") })},
			{name: "persisted", args: "[diff]", help: "print the persisted object, or how it differs from the object", run: persisted, needs: needsObject, complete: completeWords(func(*Session) []string { return []string{"diff"} })},
			{name: "objects", help: "list the loaded objects, if there are several", run: objects, needs: needsCRD},
			{name: "object", args: "NAME|NUMBER", help: "make one of the loaded objects the object", run: objectCommand, needs: needsCRD},
		}},
		{"Rules", []command{
			{name: "rules", args: "[all|N [--rejected]]", help: "list the rules here, or all, with verdict, cost, and headroom; N shows one in full, or the objects that it rejects", run: rules, needs: needsCRD, complete: completeRules},
			{name: "find", args: "[N] [WANT|use]", help: "find an object that a rule rejects, or with the outcome WANT: accepted, error, or budget; use makes it the object", run: findWitness, needs: needsCRD, complete: completeNumbered(completeWords(func(*Session) []string { return append(slices.Clone(wants), useFound) }))},
			{name: "add", args: "[PATH:] RULE", help: "add a rule here, or at PATH", run: addCommand, needs: needsRules, expression: true, complete: completeAdd},
			{name: "edit", args: "N [RULE]", help: "replace a rule; without RULE, edit it in the next line", run: edit, needs: needsRules, expression: true, complete: completeNumbered(completeExpression)},
			{name: "drop", args: "N", help: "remove a rule", run: drop, needs: needsRules, complete: completeNumbered(nil)},
			{name: "message", args: "[N] TEXT", help: "set a rule's message; - removes it", run: setPart("message"), needs: needsRules, complete: completeNumbered(nil)},
			{name: "messageExpression", args: "[N] EXPR", help: "set a rule's messageExpression; - removes it", run: setPart("messageExpression"), needs: needsRules, expression: true, removes: true, complete: completeNumbered(completeExpression)},
			{name: "reason", args: "[N] REASON", help: "set a rule's reason; - removes it", run: setPart("reason"), needs: needsRules, complete: completeNumbered(completeWords(func(*Session) []string { return reasons }))},
			{name: "fieldPath", args: "[N] PATH", help: "set a rule's fieldPath; - removes it", run: setPart("fieldPath"), needs: needsRules, complete: completeNumbered(nil)},
			{name: "optionalOldSelf", args: "[N] true|-", help: "set optionalOldSelf, so that a transition rule runs on create", run: setPart("optionalOldSelf"), needs: needsRules, complete: completeNumbered(completeWords(func(*Session) []string { return []string{"true", "-"} }))},
			{name: "advice", help: "print which rules cost too much, which bounds to set, and other problems", run: advice, needs: needsRules},
			{name: "fix", args: "[list-type]", help: "correct the last line and run it, or set the bounds that :advice names; list-type replaces rules that only reject duplicates", run: fix, needs: needsRules, complete: completeWords(func(*Session) []string { return []string{fixListType} })},
			{name: "diff", help: "print the changes to the CRD", run: diffCRD, needs: needsCRD},
			{name: "save", args: "[FILE]", help: "write the CRD to its file or a new one; unchanged parts stay as they are", run: save, needs: needsRules, complete: completeFiles},
			{name: "save!", args: "FILE", help: "write the CRD and overwrite another file", run: saveOver, needs: needsRules, complete: completeFiles},
		}},
		{"Session", []command{
			{name: "undo", help: "undo the last change", run: undo},
			{name: "redo", help: "redo it", run: redo},
			{name: "history", help: "print the lines of this session", run: history},
			{name: "help", args: "[COMMAND]", help: "list the commands, or describe one", run: help, complete: completeHelp},
			{name: "quit", help: "quit; repeat to discard unsaved rules", run: nil},
		}},
	}
}

// findCommand returns the command with the given name, or the only command whose name begins with
// it. A command and its variant with "!" count as the same command.
func findCommand(name string) (command, bool) {
	var begun []command
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
		if name != "" && strings.HasPrefix(c.name, name) {
			begun = append(begun, c)
		}
	}
	if len(begun) == 1 || len(begun) == 2 && begun[1].name == begun[0].name+"!" {
		return begun[0], true
	}
	return command{}, false
}

var bareWords = []string{"quit", "exit", "help"}

func isBareCommand(line string) bool {
	words := strings.Fields(line)
	return len(words) == 1 && slices.Contains(bareWords, words[0]) || len(words) == 2 && words[0] == "help"
}

func noCommand(name string) error {
	var all, begun []string
	name = termwidth.Cut(name, maxValue)
	for _, c := range commands() {
		all = append(all, ":"+c.name)
		if name != "" && strings.HasPrefix(c.name, name) {
			begun = append(begun, ":"+c.name)
		}
	}
	if len(begun) > 0 {
		return fmt.Errorf("unknown command :%s; did you mean %s?", name, phrase.Or(begun))
	}
	near := ""
	if name != "" {
		near = spell.DidYouMean(":"+name, all)
	}
	return fmt.Errorf("unknown command :%s%s", name, cmp.Or(near, " (:help lists them)"))
}

func history(_ context.Context, s *Session, _ string) (string, error) {
	var b strings.Builder
	for i, line := range s.history {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, strings.ReplaceAll(line, "\n", "\n      "))
	}
	return b.String(), nil
}

type undoPoint struct {
	state        *state
	past, future []*state
}

func (s *Session) undoPoint() undoPoint {
	return undoPoint{s.state, slices.Clone(s.past), slices.Clone(s.future)}
}

// asOne runs do, which can commit several states, as one step of :undo. If do fails, asOne restores the state.
func (s *Session) asOne(do func() error) error {
	before, saved := s.undoPoint(), maps.Clone(s.saved)
	if err := do(); err != nil {
		s.restore(before)
		s.saved = saved
		return err
	}
	s.past = append(before.past, before.state)
	return nil
}

func (s *Session) restore(m undoPoint) {
	s.state, s.past, s.future = m.state, m.past, m.future
	_ = s.state.settle(s.state.steps) // as before
}

func undo(_ context.Context, s *Session, _ string) (string, error) {
	made := s.state
	moved, err := s.moveTo(&s.past, &s.future, "undo")
	return "undid " + made.change() + moved, err
}

func redo(_ context.Context, s *Session, _ string) (string, error) {
	moved, err := s.moveTo(&s.future, &s.past, "redo")
	return "redid " + s.state.change() + moved, err
}

func (st *state) change() string {
	return termwidth.Cut(lex.OneLine(cmp.Or(st.command, "the loaded files")), maxValue) + "\n"
}

// moveTo makes the last state of from current and appends the current state to to. The path stays if it exists in the
// other state; otherwise, moved names the new path.
func (s *Session) moveTo(from, to *[]*state, command string) (moved string, err error) {
	n := len(*from)
	if n == 0 {
		return "", fmt.Errorf("nothing to %s", command)
	}
	target, steps := *(*from)[n-1], s.state.steps
	if !slices.Equal(target.steps, steps) {
		target.rule = -1
	}
	if err := target.settle(steps); err != nil {
		return "", err
	}
	if len(target.steps) < len(steps) {
		moved = fmt.Sprintf("%s does not exist here: the path is now %s\n", phrase.Path(engine.FormatPath(steps)), phrase.Path(engine.FormatPath(target.steps)))
	}
	*from = (*from)[:n-1]
	*to = append(*to, s.state)
	s.enter(&target)
	return moved, nil
}
