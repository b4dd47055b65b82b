package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/trace"
	"github.com/celadon-cel/celadon/internal/foreign"
	"github.com/celadon-cel/celadon/repl"
	"github.com/celadon-cel/celadon/types"
)

// evalOptions are the flags of celadon eval.
type evalOptions struct {
	replOptions
	at         string
	version    string
	output     string
	exitStatus bool
}

func (a *app) evalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval --crd PATH [--object FILE] [--old FILE] [--at PATH] EXPR",
		Short: "Evaluate one CEL expression over an object, with self of its CRD's type",
		Long: `Eval evaluates one expression as a rule of the CRD would be: self is the object,
or what --at leads to, oldSelf its old form. It prints the value; with -o json
also type, cost and estimate.

Exit codes: 0 evaluated, 1 with --exit-status when the value is false, 2 usage,
unreadable input, or no value, 130 interrupted.`,
		Example: `  celadon eval --crd crd.yaml --object obj.yaml 'self.spec.replicas > 1'
  celadon eval --crd crd.yaml --object obj.yaml --at 'spec.env[0]' --exit-status "self.name != ''"`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return fmt.Errorf("want one expression (got %d); quote it for the shell", len(args))
			case strings.TrimSpace(args[0]) == "":
				return errors.New("want one expression (got an empty one)")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := o.config.Defaults(cmd, a.stderr); err != nil {
				return err
			}
			return a.eval(cmd.Context(), &o, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.crd, "crd", "", "the CRD: `PATH` of a file, a folder or -")
	f.StringVar(&o.object, "object", "", "the object: a `FILE`")
	f.StringVar(&o.old, "old", "", "the object before: a `FILE`")
	f.StringVar(&o.at, "at", "", "what self is: a `PATH` such as spec.env[0]")
	f.StringVar(&o.version, "version", "", "the CRD's `VERSION` (default the object's, or the storage version)")
	f.StringVar(&o.kubeVersion, "kube-version", "", "Kubernetes `X.Y` to write rules for (default all that is known)")
	f.StringVarP(&o.output, "output", "o", "text", "print as text or json")
	f.BoolVar(&o.exitStatus, "exit-status", false, "exit with 1 when the value is false")
	o.config.Add(f)
	return cmd
}

func (a *app) eval(ctx context.Context, o *evalOptions, src string) error {
	switch {
	case o.crd == "":
		return errors.New("no CRD given: want --crd PATH (see celadon eval --help)")
	case o.output != "text" && o.output != "json":
		return fmt.Errorf("--output %q: want text or json", o.output)
	}
	if _, err := types.ParseVersion(o.kubeVersion); err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	s, err := a.session(ctx, &o.replOptions)
	if err != nil {
		return err
	}
	if err := s.Go(o.version, o.at); err != nil {
		return err
	}
	answer, err := s.Eval(ctx, src)
	if err != nil {
		return a.evalFailed(s, o, err)
	}
	answer.Err = o.inFlags(answer.Err)
	if err := a.printAnswer(o, answer); err != nil {
		return fmt.Errorf("cannot write the value: %w", err)
	}
	switch {
	case answer.Err != nil && o.output == "text":
		return &cli.ExitError{Code: cli.Usage, Err: answer.Err}
	case answer.Err != nil:
		return &cli.ExitError{Code: cli.Usage}
	case o.exitStatus && answer.Value == celtypes.False:
		return &cli.ExitError{Code: cli.Findings}
	}
	return nil
}

// inFlags words what a session lacks for the command line.
func (o *evalOptions) inFlags(err error) error {
	var lacking *repl.NoValueError
	switch {
	case !errors.As(err, &lacking):
		return err
	case o.object == "":
		return errors.New("self has no value: want --object FILE")
	case lacking.Old && o.old == "":
		return errors.New("oldSelf has no value: want --old FILE")
	}
	return errors.New(lacking.Why)
}

// evalReport is the form of -o json; scripts read it.
type evalReport struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	// Value is the value as JSON has it; CEL is how CEL writes it.
	Value json.RawMessage `json:"value,omitempty"`
	CEL   string          `json:"cel,omitempty"`
	Type  string          `json:"type,omitempty"`
	Cost  uint64          `json:"cost"`
	*priceReport
	Error *evalError `json:"error,omitempty"`
}

// priceReport is what is known of an expression that compiles.
type priceReport struct {
	// EstimatedCost is that of one evaluation; Cardinality how often a rule
	// there may run for one object.
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
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

func (a *app) printAnswer(o *evalOptions, answer *repl.Answer) error {
	if o.output == "text" {
		if answer.Value == nil {
			return nil
		}
		_, err := fmt.Fprintln(foreign.NewWriter(a.stdout), repl.Format(answer.Value))
		return err
	}
	rep := evalReport{Type: answer.Type, Cost: answer.Cost, priceReport: &priceReport{
		EstimatedCost: estimateReport{answer.Estimate.Min, answer.Estimate.Max},
		Cardinality:   answer.Occurrences, EstimatedTotal: answer.Total(), Limit: answer.Limit,
	}}
	if answer.Value != nil {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(trace.Native(answer.Value)); err != nil {
			return err
		}
		rep.Value, rep.CEL = bytes.TrimSpace(b.Bytes()), repl.Format(answer.Value)
	}
	if answer.Err != nil {
		rep.Error = &evalError{Message: answer.Err.Error()}
	}
	return a.printEval(rep)
}

func (a *app) printEval(rep evalReport) error {
	rep.Kind, rep.APIVersion = "EvalReport", "celadon/v1"
	enc := json.NewEncoder(foreign.NewWriter(a.stdout))
	enc.SetEscapeHTML(false)
	return enc.Encode(rep)
}

// evalFailed tells of an expression that does not compile: on stderr, or as
// JSON.
func (a *app) evalFailed(s *repl.Session, o *evalOptions, err error) error {
	var bad *engine.CompileError
	if !errors.As(err, &bad) {
		return err
	}
	if o.output == "json" {
		rep := evalReport{Error: &evalError{Message: bad.Summary(), Line: bad.Line, Column: bad.Column}}
		if err := a.printEval(rep); err != nil {
			return err
		}
		return &cli.ExitError{Code: cli.Usage}
	}
	fmt.Fprint(a.stderr, s.Problem(err))
	return &cli.ExitError{Code: cli.Usage}
}
