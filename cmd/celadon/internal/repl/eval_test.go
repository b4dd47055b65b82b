package repl

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/repl"
)

// TestEvalTellsBugs checks that an internal error has its own exit code and is not reported as an
// invalid expression.
func TestEvalTellsBugs(t *testing.T) {
	e := &evaluation{EvalOptions: &EvalOptions{}}
	var exit *command.ExitError
	err := e.broken(nil, fmt.Errorf("it: %w", &engine.InternalError{Reason: "spoilt"}))
	if !errors.As(err, &exit) || exit.Code != command.Bug {
		t.Errorf("%v, want exit code %d", err, command.Bug)
	}
}

// TestTableWidth checks that a long name does not widen the rows of other objects.
func TestTableWidth(t *testing.T) {
	var out bytes.Buffer
	table := &tableRows{out: &out}
	for _, name := range []string{strings.Repeat("n", 10_000), "a", "b"} {
		doc := input.Edited("objects.yaml", nil, 1, 0, false, map[string]any{"metadata": map[string]any{"name": name}})
		if err := table.row(doc, &repl.Row{Err: errors.New("no value")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.end(); err != nil || out.Len() > 11_000 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}
