package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/repl"
)

const evalHelp = `Eval evaluates an expression as a rule of the CRD would be evaluated: self is the
object, or its value at --at, and oldSelf is the old value. Eval prints the result;
with -o json, also its type, cost, and cost estimate.

If a file holds several objects, eval uses the one of the CRD's kind; use --name to
choose among several.

Exit codes: 0 evaluated, 1 with --exit-status if the value is false, 2 usage error,
unreadable input, or no value, 3 internal error, 130 interrupted.`

const evalExamples = `  celadon eval --crd crd.yaml --object obj.yaml 'self.spec.replicas > 1'
  celadon eval --cluster -n default --object crontab/nightly 'self.spec.replicas > 1'
  celadon eval --crd crd.yaml --object obj.yaml --at 'spec.env[0]' --exit-status "self.name != ''"`

func evalCommand(s command.Streams) *cobra.Command {
	var o repl.EvalOptions
	cmd := &cobra.Command{
		Use:     "eval --crd PATH [--object FILE] [--old FILE] [--at PATH] EXPR",
		Short:   "Evaluate a CEL expression over an object, with self as its CRD declares it",
		Long:    evalHelp,
		Example: evalExamples,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return fmt.Errorf("want one expression (got %d): quote it for the shell", len(args))
			case strings.TrimSpace(args[0]) == "":
				return errors.New("want one expression (got an empty one)")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Config.NoTree = o.Cluster.On
			if _, err := o.Config.Defaults(cmd, s.Stderr); err != nil {
				return err
			}
			return repl.Eval(cmd.Context(), s, &o, args[0])
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "object", "old", "config")
	command.Values(cmd, "output", "text", "json")
	repl.CompleteInputs(cmd, s, &o.Inputs)
	cluster.Complete(cmd)
	repl.CompletePaths(cmd, s, &o)
	return cmd
}
