package repl

import (
	"errors"
	"fmt"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/engine"
)

func TestEvalTellsBugs(t *testing.T) {
	e := &evaluation{EvalOptions: &EvalOptions{}}
	var exit *command.ExitError
	err := e.broken(nil, fmt.Errorf("it: %w", &engine.InternalError{Reason: "spoilt"}))
	if !errors.As(err, &exit) || exit.Code != command.Bug {
		t.Errorf("%v, want exit code %d", err, command.Bug)
	}
}
