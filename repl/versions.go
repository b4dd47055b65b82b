package repl

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
)

// versions implements :versions. It prints what each Kubernetes version makes of a rule or an
// expression: whether it compiles, its cost, and its value for the loaded object.
func versions(ctx context.Context, s *Session, arg string) (string, error) {
	src := arg
	if _, ok := ruleNumber(arg); ok {
		n, err := s.numbered(arg)
		if err != nil {
			return "", err
		}
		src = s.rulesHere()[n].Rule
	}
	if _, err := s.Eval(ctx, src); err != nil && s.state.kube == "" { // no version compiles it
		return "", err
	}
	rows := [][]string{{"version", "cost", "limit", "result"}}
	for _, v := range types.Versions() {
		row, err := s.inVersion(ctx, v, src)
		if err != nil {
			return "", err
		}
		rows = append(rows, row)
	}
	return printable(lex.Flat(src)) + "\n" + table(rows, s.Width), nil
}

// inVersion returns the row of a table for an expression in a Kubernetes version.
func (s *Session) inVersion(ctx context.Context, v types.Version, src string) ([]string, error) {
	other := *s
	if _, err := kube(ctx, &other, v.String()); err != nil {
		return []string{v.String(), "-", "-", printable(err.Error())}, nil
	}
	a, err := other.Eval(ctx, src)
	var bad *engine.CompileError
	if errors.As(err, &bad) {
		return []string{v.String(), "-", "-", "does not compile: " + summary(bad)}, nil
	}
	if err != nil {
		return nil, err
	}
	result := "-"
	switch {
	case a.Err != nil && a.Evaluated:
		result = "error: " + a.Err.Error()
	case a.Value != nil:
		result = termwidth.Cut(a.Value.String(), maxValue)
	}
	limit := phrase.Share(a.Total(), a.Limit)
	if a.Total() > a.Limit {
		limit += ", too expensive"
	}
	return []string{v.String(), fmt.Sprint(phrase.Number(a.Total())), limit, printable(result)}, nil
}
