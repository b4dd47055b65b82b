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

PATHs are files, folders, or - for standard input, with CRDs, objects, and admission
policies. Built-in kinds, such as Deployment, need no CRD. Suites of celadon test are
not used. If there are several objects of the CRD's kind, all are loaded, and the first
is the current object; :rules then counts the objects that each rule rejects. Old
objects are read only from --old.

If FILE of --object holds several objects, repl uses the one of the CRD's kind; use
--name to choose among several.

Repl reads a terminal or a pipe. It ends at :quit or at the end of input.`

const replExamples = `  celadon repl crd.yaml obj.yaml
  celadon repl config/
  celadon repl crd.yaml objects/ --old main/objects/
  celadon repl --crd crd.yaml --object obj.yaml
  celadon repl --cluster -n default --object crontab/nightly
  echo 'self.spec.replicas > 1' | celadon repl crd.yaml obj.yaml`

func replCommand(s command.Streams) *cobra.Command {
	var o repl.Options
	cmd := &cobra.Command{
		Use:     "repl [PATH...] [--crd PATH] [--object FILE] [--old PATH]",
		Short:   "Develop CEL rules interactively, with values, types, and costs",
		Long:    replHelp,
		Example: replExamples,
		RunE: func(cmd *cobra.Command, paths []string) error {
			o.Paths = paths
			o.Config.NoTree = o.Cluster.On
			if _, err := o.Config.Defaults(cmd, s.Stderr); err != nil {
				return err
			}
			return repl.Run(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, true, "crd", "object", "old", "config")
	command.KubeVersions(cmd, "kube-version")
	command.Values(cmd, "subresource", "status")
	cluster.Complete(cmd)
	return cmd
}
