package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
)

// nothingChanged is the reply of commands that have nothing to write.
const nothingChanged = "nothing has changed\n"

// A ruleDraft is a rule that does not compile yet, with the version and path of the rule that it
// replaces.
type ruleDraft struct {
	scope [2]string
	index int
	text  string
}

// ruleText returns the new text of rule n from the user's editor, or "" if it has not changed. Without
// an editor, the error offers the rule as the next line.
func (s *Session) ruleText(ctx context.Context, n int) (string, error) {
	now := s.rulesHere()[n].Rule
	if s.host.EditText == nil {
		line, ok := lex.Join(now)
		if !ok {
			return "", fmt.Errorf("no rule given: use :edit %d RULE (current rule: %s)", n, now)
		}
		return "", &incompleteError{
			fmt.Sprintf("no rule given: use :edit %d RULE (current rule: %s)", n, line),
			fmt.Sprintf(":edit %d %s", n, line),
		}
	}
	begun := now
	if d := s.draft; d.text != "" && d.index == n && d.scope == s.namespace() {
		begun = d.text
	}
	edited, err := s.editText(ctx, "rule.cel", begun)
	if err != nil || edited == now {
		return "", err
	}
	return edited, nil
}

// editText returns a text as the user edits it, without spaces at its end.
func (s *Session) editText(ctx context.Context, name, text string) (string, error) {
	edited, err := s.host.EditText(ctx, name, []byte(text+"\n"))
	if err != nil {
		return "", err
	}
	after := strings.TrimRight(strings.ReplaceAll(string(edited), "\r\n", "\n"), " \t\n")
	if strings.TrimSpace(after) == "" {
		return "", errors.New("the edited text is empty: nothing has changed")
	}
	return after, nil
}

// editLast opens the last expression in the user's editor, and evaluates the result.
func (s *Session) editLast(ctx context.Context) Reply {
	text := ""
	if i := s.letNamed(lastValue); i >= 0 {
		text = s.lets[i].text
	}
	edited, err := s.editText(ctx, "expression.cel", text)
	if err != nil {
		return s.failed(err)
	}
	s.history[len(s.history)-1] = edited
	reply := s.answered(ctx, edited)
	reply.Text = runsText(edited, s.Width) + reply.Text
	return reply
}

// runsText returns the first line of the reply to a command that executes another line.
func runsText(line string, width int) string {
	return termwidth.Fold("runs "+printable(lex.OneLine(line))+"\n", width, 5)
}

// editObject opens the value at a path of the object in the user's editor, as YAML.
func (s *Session) editObject(ctx context.Context, path string) (string, error) {
	switch {
	case s.state.crd == nil:
		return "", ErrNoCRD
	case s.state.object == nil:
		return "", errNoObject
	}
	steps, err := s.state.location.resolve(path)
	if err == nil && len(steps) > 0 {
		steps, err = s.edited(path)
	}
	if err != nil {
		return "", err
	}
	value, ok := valueAt(s.state.object.value, steps)
	begun := ""
	if ok {
		text, err := emit.YAML(value)
		if err != nil {
			return "", err
		}
		begun = strings.TrimRight(string(text), "\n")
	}
	edited, err := s.editText(ctx, "object.yaml", begun)
	if err != nil {
		return "", err
	}
	if edited == begun {
		return nothingChanged, nil
	}
	data, err := yaml.YAMLToJSONStrict([]byte(edited))
	if err != nil {
		return "", fmt.Errorf("the edited value is not YAML: %w", err)
	}
	changed, err := decodeJSON(string(data))
	if err != nil {
		return "", err
	}
	return "", s.change(false, func(obj map[string]any) error {
		if len(steps) > 0 {
			return putValue(obj, steps, changed)
		}
		whole, ok := changed.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: want an object", phrase.Path(engine.FormatPath(nil)))
		}
		clear(obj)
		for key, v := range whole {
			obj[key] = v
		}
		return nil
	})
}
