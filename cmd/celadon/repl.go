package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/repl"
)

const replHelp = `Repl is a shell for CRD authors. For each expression, it prints the value, type,
estimated cost, and actual cost; self is the object, or the value selected with :cd.
Commands edit the object and the rules, and write the rules back into the CRD without
changing the rest of the file; :help lists the commands.

If a file holds several objects, repl uses the one of the CRD's kind; use --name to
choose among several.

Repl reads a terminal or a pipe. It ends at :quit or at the end of input.`

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
