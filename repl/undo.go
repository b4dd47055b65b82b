package repl

import (
	"context"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// An undoPoint is a saved position in the undo history.
type undoPoint struct {
	state        *state
	past, future []*state
}

func (s *Session) undoPoint() undoPoint {
	return undoPoint{s.state, slices.Clone(s.past), slices.Clone(s.future)}
}

func (s *Session) restore(m undoPoint) { s.state, s.past, s.future = m.state, m.past, m.future }

// undo returns to the previous state, and redo to the state that was undone. The reply names the
// command.
func undo(_ context.Context, s *Session, _ string) (string, error) {
	made := s.state.command
	return "undid " + commandText(made), s.moveTo(&s.past, &s.future, "undo")
}

func redo(_ context.Context, s *Session, _ string) (string, error) {
	err := s.moveTo(&s.future, &s.past, "redo")
	return "redid " + commandText(s.state.command), err
}

func commandText(command string) string {
	if command == "" {
		return "the loaded files\n"
	}
	return termwidth.Cut(lex.OneLine(command), maxValue) + "\n"
}

func (s *Session) moveTo(from, to *[]*state, command string) error {
	n := len(*from)
	if n == 0 {
		return fmt.Errorf("nothing to %s", command)
	}
	target := *(*from)[n-1]
	if target.location == nil {
		if err := target.settle(target.steps); err != nil {
			return err
		}
	}
	*from = (*from)[:n-1]
	*to = append(*to, s.state)
	s.enter(&target)
	return nil
}
