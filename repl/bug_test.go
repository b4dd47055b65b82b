package repl

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/eval"
)

func TestBugIsNoVerdict(t *testing.T) {
	s := crontab(t)
	place := s.state.location
	s.state.location = nil // no command leaves a session in this state
	a, err := s.Eval(context.Background(), "self.spec.replicas > 0")
	var bug *engine.InternalError
	if a != nil || !errors.As(err, &bug) {
		t.Errorf("%+v, %v", a, err)
	}
	if reply := s.Do(context.Background(), "1 + 1"); !reply.Failed || !strings.HasPrefix(reply.Text, "error: internal error in celadon") {
		t.Errorf("%q", reply.Text)
	}
	s.state.location = place
	if reply := s.Do(context.Background(), "40 + 2"); !strings.HasPrefix(reply.Text, "42\n") {
		t.Errorf("%q", reply.Text)
	}

	if err := internal(&eval.InternalError{Panic: "spoilt"}); !errors.As(err, &bug) || bug.Reason != "spoilt" {
		t.Errorf("%v", err)
	}
	if err := internal(errors.New("no such key: a")); err != nil {
		t.Errorf("%v", err)
	}
}
