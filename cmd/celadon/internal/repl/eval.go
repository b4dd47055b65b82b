package repl

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/repl"
)

// EvalOptions holds the flags of celadon eval.
type EvalOptions struct {
	Inputs
	Config config.Flags

	// Expressions is a file with expressions to evaluate instead of an argument.
	Expressions string

	At         string
	Version    string
	Output     string
	ExitStatus bool
}

// Flags adds the flags of celadon eval to f.
func (o *EvalOptions) Flags(f *pflag.FlagSet) {
	o.flags(f)
	f.StringArrayVar(&o.Objects, "object", nil, "read the object, or objects, from `PATH`: a file, a folder, or -; repeatable")
	f.StringVar(&o.Expressions, "expressions", "", "evaluate the expressions of the policies, DeviceClass, ResourceClaim, or configuration of kube-apiserver in `PATH` instead of EXPR")
	f.StringVar(&o.At, "at", "", "`PATH` of self, such as spec.env[0], or spec.env[*] for each element in many objects")
	f.StringVar(&o.Version, "version", "", "the CRD's `VERSION` (default: the object's, or the storage version)")
	f.StringVarP(&o.Output, "output", "o", "text", "output format: text or json")
	f.BoolVar(&o.ExitStatus, "exit-status", false, "exit with 1 if the value is false")
	o.Config.Add(f)
	config.FromTree.Set(f, "crd", "output")
	config.Stricter.Set(f, "kube-version")
}

type evaluation struct {
	host
	*EvalOptions
}

// Eval implements celadon eval.
func Eval(ctx context.Context, streams command.Streams, o *EvalOptions, src string) error {
	e := &evaluation{host{Streams: streams, given: o.given}, o}
	if len(o.Objects) == 1 {
		o.Object = o.Objects[0]
	}
	if o.Output != "text" && o.Output != "json" {
		return fmt.Errorf("--output %q: want text or json", o.Output)
	}
	if err := e.checkObjects(); err != nil {
		return err
	}
	if o.Expressions != "" {
		return e.expressions(ctx)
	}
	if e.mayBeMany() {
		return e.all(ctx, src)
	}
	s, _, _, err := e.session(ctx, &o.Inputs, cost.Limits{})
	if err != nil {
		return err
	}
	return e.one(ctx, s, src)
}

func (e *evaluation) one(ctx context.Context, s *repl.Session, src string) error {
	o := e.EvalOptions
	if err := s.Go(o.Version, o.At); err != nil {
		return withoutCRD(err)
	}
	answer, err := s.Eval(ctx, src)
	if err = withoutCRD(err); err != nil {
		return e.broken(s, err)
	}
	answer.Err = o.inFlags(answer.Err)
	if err := e.printAnswer(answer); err != nil {
		return fmt.Errorf("cannot write the value: %w", err)
	}
	if answer.Status != nil && o.Output == "text" {
		e.Complain(errors.New("note: " + noteText(answer.Status)))
	}
	switch {
	case answer.Err != nil && o.Output != "text":
		return &command.ExitError{Code: command.Usage}
	case answer.Err != nil && answer.Hint != "":
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("%w\n  hint: %s", answer.Err, answer.Hint)}
	case answer.Err != nil:
		return &command.ExitError{Code: command.Usage, Err: answer.Err}
	case o.ExitStatus && answer.Value != nil && answer.Value.False():
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}

var errNoCRD = errors.New("no CRD given: use --crd PATH (see celadon eval --help)")

func withoutCRD(err error) error {
	if errors.Is(err, repl.ErrNoCRD) {
		return errNoCRD
	}
	return err
}

func noteText(n *repl.StatusNote) string {
	return n.Reason + "; use --subresource status to evaluate a write of the status"
}

func (o *EvalOptions) inFlags(err error) error {
	var lacking *repl.NoValueError
	switch {
	case !errors.As(err, &lacking):
		return err
	case o.Object == "":
		return errors.New("self has no value: use --object FILE")
	case lacking.Old && o.Old == "":
		return errors.New("oldSelf has no value: use --old FILE")
	}
	return errors.New(lacking.Reason)
}

func (e *evaluation) printAnswer(answer *repl.Answer) error {
	if e.Output == "text" {
		if answer.Value == nil {
			return nil
		}
		_, err := fmt.Fprintln(untrusted.NewWriter(e.Stdout), answer.Value)
		return err
	}
	rep, err := answer.Report()
	if err != nil {
		return err
	}
	if answer.Status != nil {
		rep.Note = noteText(answer.Status)
	}
	return e.printReport(rep)
}

func (e *evaluation) printReport(rep *repl.Report) error {
	return print.Encoder(untrusted.NewWriter(e.Stdout)).Encode(rep)
}

func (e *evaluation) broken(s *repl.Session, err error) error {
	var bug *engine.InternalError
	if errors.As(err, &bug) {
		return &command.ExitError{Code: command.Bug, Err: err}
	}
	var bad *engine.CompileError
	if !errors.As(err, &bad) {
		return err
	}
	if e.Output == "json" {
		if err := e.printReport(s.BrokenReport(bad)); err != nil {
			return err
		}
		return &command.ExitError{Code: command.Usage}
	}
	fmt.Fprint(e.Stderr, s.Problem(err))
	return &command.ExitError{Code: command.Usage}
}
