package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/docs"
)

func explainCommand(s command.Streams) *cobra.Command {
	var o docs.ExplainOptions
	cmd := &cobra.Command{
		Use:   "explain [TYPE[.FIELD...]] CRD...",
		Short: "Explain a field of a CRD as kubectl does, with its bounds, default, and rules",
		Long: `Explain prints the documentation of a resource or one of its fields as kubectl explain
does, but reads it from a CRD instead of a cluster. It adds bounds, defaults, and rules
with their messages and estimated costs. TYPE is the plural, singular, or short name,
or the kind; for fields of list items, append the field to the list's name.

Exit codes: 0 success, 2 usage error, unreadable input, or an unknown type or field.`,
		Example: `  celadon explain crd.yaml
  celadon explain crontabs.spec.replicas crd.yaml
  celadon explain crontabs --crd crds/ --api-version stable.example.com/v1 --recursive
  celadon explain crontabs --crd crd.yaml -o plaintext`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, crds := "", args
			if len(args) > 0 && !docs.IsPath(args[0]) {
				name, crds = args[0], args[1:]
			}
			command.AddTo(cmd, "crd", crds)
			if err := o.Check(args); err != nil {
				return command.SeeHelp(cmd, err)
			}
			return docs.Explain(cmd.Context(), s, &o, name)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, true, "crd")
	command.Values(cmd, "output", docs.ExplainOutputs...)
	withoutFiles(cmd, "api-version", "max-depth")
	return cmd
}
