package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/repl"
)

const replHelp = `Repl is a shell for the authors of CRDs. An expression is answered with its
value, type, estimated and actual cost; self is the object, or what :cd leads
to. Commands edit the object and the rules, and write the rules back into the
CRD without touching the rest of it; :help lists them.

Of a file with several objects it takes the one of the CRD's kind; --name
chooses where there are several of that.

It reads a pipe as well as a terminal; :quit or the end of input ends it.`

const replExamples = `  celadon repl --crd crd.yaml --object obj.yaml
  celadon repl --cluster -n default --object crontab/nightly
  echo 'self.spec.replicas > 1' | celadon repl --crd crd.yaml --object obj.yaml`

func replCommand(s command.Streams) *cobra.Command {
	var o repl.Options
	cmd := &cobra.Command{
		Use:     "repl [--crd PATH] [--object FILE] [--old FILE]",
		Short:   "Develop CEL rules interactively, with values, types, and costs",
		Long:    replHelp,
		Example: replExamples,
		Args:    command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Config.NoTree = o.Cluster.On
			if _, err := o.Config.Defaults(cmd, s.Stderr); err != nil {
				return err
			}
			return repl.Run(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "object", "old", "config")
	repl.CompleteInputs(cmd, s, &o.Inputs)
	cluster.Complete(cmd)
	return cmd
}
