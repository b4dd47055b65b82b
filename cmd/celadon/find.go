package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/find"
)

func findCommand(s command.Streams) *cobra.Command {
	var o find.Options
	cmd := &cobra.Command{
		Use:   "find --crd PATH",
		Short: "Find an example object that a rule rejects, accepts, or fails on",
		Long: `Find makes objects that show what the rules of CRDs do: for each rule one that the
rule refuses and nothing else does, with its old object where the rule compares with
one. With --want it is one that is accepted and on which the rule ran, one on which
the rule fails to evaluate, or one that costs more than it may. --full and --minimal
write a sample of each CRD instead.

Every object has been decided as the API server would decide it. Where there is no
such object, a proof says so if there is one; that none was found proves nothing.

Exit codes: 0 all that was asked was found or proved, 1 something is not known, a
rule never refuses, fails or costs too much, or a version accepts nothing, 2 usage
or unreadable input (2 wins over 1), 130 interrupted with what was known.`,
		Example: `  celadon find --crd crd.yaml
  celadon find --crd crd.yaml --at spec --rule 0 -o yaml
  celadon find --crd crd.yaml --want error
  celadon find --crd crd.yaml --full -o yaml`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := o.Config.Defaults(cmd, s.Stderr); err != nil {
				return err
			}
			if err := o.Check(cmd.Flags()); err != nil {
				return command.SeeHelp(cmd, err)
			}
			return find.Run(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "config")
	command.Values(cmd, "want", find.Wants...)
	command.Values(cmd, "output", find.Outputs...)
	command.KubeVersions(cmd)
	for _, flag := range []string{"version", "at", "rule", "steps", "seed"} {
		command.Values(cmd, flag)
	}
	return cmd
}
