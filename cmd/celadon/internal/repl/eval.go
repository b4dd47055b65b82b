package repl

import (
	"bytes"
	"context"
	"encoding/json"
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

	At         string
	Version    string
	Output     string
	ExitStatus bool
}

// Flags adds the flags of celadon eval to f.
func (o *EvalOptions) Flags(f *pflag.FlagSet) {
	o.flags(f)
	f.StringVar(&o.At, "at", "", "`PATH` of self, such as spec.env[0]")
	f.StringVar(&o.Version, "version", "", "the CRD's `VERSION` (default: the object's, or the storage version)")
	f.StringVarP(&o.Output, "output", "o", "text", "output format: text or json")
	f.BoolVar(&o.ExitStatus, "exit-status", false, "exit with 1 if the value is false")
	o.Config.Add(f)
}

// evaluation holds the state of a run of celadon eval.
type evaluation struct {
	host
	*EvalOptions
}

// Eval implements celadon eval.
func Eval(ctx context.Context, streams command.Streams, o *EvalOptions, src string) error {
	e := &evaluation{host{streams, o.given}, o}
	if o.Output != "text" && o.Output != "json" {
		return fmt.Errorf("--output %q: want text or json", o.Output)
	}
	s, err := e.session(ctx, &o.Inputs, cost.Limits{})
	if err != nil {
		return err
	}
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
	case answer.Err != nil && o.Output == "text" && answer.Hint != "":
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("%w\n  hint: %s", answer.Err, answer.Hint)}
	case answer.Err != nil && o.Output == "text":
		return &command.ExitError{Code: command.Usage, Err: answer.Err}
	case answer.Err != nil:
		return &command.ExitError{Code: command.Usage}
	case o.ExitStatus && answer.Value != nil && answer.Value.False():
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}

// withoutCRD rewords the error of an expression that needs a CRD to name the flag that supplies it.
func withoutCRD(err error) error {
	if errors.Is(err, repl.ErrNoCRD) {
		return errors.New("no CRD given: use --crd PATH (see celadon eval --help)")
	}
	return err
}

// noteText returns a note on a hidden status with the flag that helps.
func noteText(n *repl.StatusNote) string {
	return n.Reason + "; use --subresource status to evaluate a write of the status"
}

// inFlags rewords an error about missing input to name the flags that supply it.
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

// evalReport is the report of -o json. Its form is a published contract.
type evalReport struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	// Value is the value as JSON. CEL is the value as a CEL literal.
	Value json.RawMessage `json:"value,omitempty"`
	CEL   string          `json:"cel,omitempty"`
	Type  string          `json:"type,omitempty"`
	Cost  uint64          `json:"cost"`
	*priceReport
	Error *evalError `json:"error,omitempty"`
	// Note reports that the expression reads a status that rules do not see.
	Note string `json:"note,omitempty"`
}

// priceReport holds the cost of an expression that compiles.
type priceReport struct {
	// EstimatedCost is the estimate for one evaluation. Cardinality is how often a rule at this path
	// may run per object.
	EstimatedCost  estimateReport `json:"estimatedCost"`
	Cardinality    uint64         `json:"cardinality"`
	EstimatedTotal uint64         `json:"estimatedTotal"`
	Limit          uint64         `json:"limit"`
}

type estimateReport struct {
	Min uint64 `json:"min"`
	Max uint64 `json:"max"`
}

type evalError struct {
	Message string `json:"message"`
	// Hint describes a fix, if known.
	Hint   string `json:"hint,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

func (e *evaluation) printAnswer(answer *repl.Answer) error {
	if e.Output == "text" {
		if answer.Value == nil {
			return nil
		}
		_, err := fmt.Fprintln(untrusted.NewWriter(e.Stdout), answer.Value)
		return err
	}
	rep := evalReport{Type: answer.Type, Cost: answer.Cost, priceReport: &priceReport{
		EstimatedCost: estimateReport{answer.Estimate.Min, answer.Estimate.Max},
		Cardinality:   answer.Occurrences, EstimatedTotal: answer.Total(), Limit: answer.Limit,
	}}
	if answer.Value != nil {
		var b bytes.Buffer
		if err := print.Encoder(&b).Encode(answer.Value.JSON()); err != nil {
			return err
		}
		rep.Value, rep.CEL = bytes.TrimSpace(b.Bytes()), answer.Value.String()
	}
	if answer.Status != nil {
		rep.Note = noteText(answer.Status)
	}
	if answer.Err != nil {
		rep.Error = &evalError{Message: answer.Err.Error(), Hint: answer.Hint}
	}
	return e.printReport(rep)
}

func (e *evaluation) printReport(rep evalReport) error {
	rep.Kind, rep.APIVersion = "EvalReport", "celadon/v1"
	return print.Encoder(untrusted.NewWriter(e.Stdout)).Encode(rep)
}

// broken reports an expression that does not compile, on stderr or as JSON.
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
		rep := evalReport{Error: &evalError{Message: bad.Summary(), Hint: s.Hint(bad), Line: bad.Line, Column: bad.Column}}
		if err := e.printReport(rep); err != nil {
			return err
		}
		return &command.ExitError{Code: command.Usage}
	}
	fmt.Fprint(e.Stderr, s.Problem(err))
	return &command.ExitError{Code: command.Usage}
}
