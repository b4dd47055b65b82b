package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/docs"
)

func explainCommand(s command.Streams) *cobra.Command {
	var o docs.ExplainOptions
	cmd := &cobra.Command{
		Use:   "explain TYPE[.FIELD...] --crd PATH",
		Short: "Explain a field of a CRD as kubectl does, with its bounds, default, and rules",
		Long: `Explain says of a resource or one of its fields what kubectl explain says, from the
CRD and without a cluster, and what kubectl leaves out: bounds, default, and rules
with their messages and estimated costs. TYPE is a plural, singular or short name, or
the kind; fields of items follow the list's name.

Exit codes: 0, or 2 for usage, unreadable input, or a type or field that is not
there.`,
		Example: `  celadon explain crontabs --crd crd.yaml
  celadon explain crontabs.spec.replicas --crd crd.yaml
  celadon explain crontabs --crd crds/ --api-version stable.example.com/v1 --recursive
  celadon explain crontabs --crd crd.yaml -o plaintext`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Check(args); err != nil {
				return command.SeeHelp(cmd, err)
			}
			return docs.Explain(cmd.Context(), s, &o, args[0])
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd")
	command.Values(cmd, "output", docs.ExplainOutputs...)
	for _, flag := range []string{"api-version", "max-depth"} {
		command.Values(cmd, flag)
	}
	return cmd
}
