package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
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
	edited, err := s.host.EditText(ctx, "rule.cel", []byte(begun+"\n"))
	if err != nil {
		return "", err
	}
	after := strings.TrimRight(strings.ReplaceAll(string(edited), "\r\n", "\n"), " \t\n")
	switch {
	case strings.TrimSpace(after) == "":
		return "", errors.New("the edited text is empty: nothing has changed")
	case after == now:
		return "", nil
	}
	return after, nil
}

// runsText returns the first line of the reply to a command that executes another line.
func runsText(line string, width int) string {
	return termwidth.Fold("runs "+printable(lex.OneLine(line))+"\n", width, 5)
}
