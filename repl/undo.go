package repl

import (
	"context"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
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
	moved, err := s.moveTo(&s.past, &s.future, "undo")
	return "undid " + commandText(made) + moved, err
}

func redo(_ context.Context, s *Session, _ string) (string, error) {
	moved, err := s.moveTo(&s.future, &s.past, "redo")
	return "redid " + commandText(s.state.command) + moved, err
}

func commandText(command string) string {
	if command == "" {
		return "the loaded files\n"
	}
	return termwidth.Cut(lex.OneLine(command), maxValue) + "\n"
}

// moveTo makes the last state of from current and appends the current state to to. The path stays, unless it does not exist
// in the other state; moved then names the new path.
func (s *Session) moveTo(from, to *[]*state, command string) (moved string, err error) {
	n := len(*from)
	if n == 0 {
		return "", fmt.Errorf("nothing to %s", command)
	}
	target, steps := *(*from)[n-1], s.state.steps
	if !slices.Equal(target.steps, steps) {
		target.rule = -1
	}
	if target.location == nil || !slices.Equal(target.steps, steps) {
		if err := target.settle(steps); err != nil {
			return "", err
		}
	}
	if len(target.steps) < len(steps) {
		moved = fmt.Sprintf("%s does not exist here: the path is now %s\n", phrase.Path(engine.FormatPath(steps)), phrase.Path(engine.FormatPath(target.steps)))
	}
	*from = (*from)[:n-1]
	*to = append(*to, s.state)
	s.enter(&target)
	return moved, nil
}
