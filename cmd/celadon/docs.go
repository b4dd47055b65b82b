package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/publishing"
)

func docsCommand(s cli.Streams) *cobra.Command {
	var o publishing.DocsOptions
	cmd := &cobra.Command{
		Use:   "docs --crd PATH",
		Short: "Write a reference page of a CRD, with examples that the API server accepts",
		Long: `Docs writes a page for each CRD: its versions, its fields with their bounds, defaults
and rules, and of each served version one minimal and one full example, which have
been decided as the API server would decide them. An HTML page is one file that loads
nothing and runs nothing. The same CRD gives the same bytes.

Exit codes: 0, or 2 for usage, unreadable input or a page that is missing; 130
interrupted, without a page.`,
		Example: `  celadon docs --crd crd.yaml
  celadon docs --crd crds/ -o html --out site/`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(); err != nil {
				return cli.SeeHelp(cmd, err)
			}
			return publishing.Docs(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	cli.Operands(cmd, false, "crd")
	cli.Values(cmd, "output", publishing.DocsOutputs...)
	for _, flag := range []string{"steps", "seed"} {
		cli.Values(cmd, flag)
	}
	return cmd
}
