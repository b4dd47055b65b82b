package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/docs"
)

func docsCommand(s command.Streams) *cobra.Command {
	var o docs.DocsOptions
	cmd := &cobra.Command{
		Use:   "docs CRD...",
		Short: "Write a reference page for a CRD, with examples that the API server accepts",
		Long: `Docs writes a page for each CRD: its versions, its fields with their bounds, defaults,
and rules, and one minimal and one full example for each served version. The examples
are validated as the API server would validate them. An HTML page is a single file
without scripts or external resources. The same CRD always produces the same bytes.

-o jsonschema writes JSON Schemas for editors instead: with --out, one for each version,
and all.json for all of them; otherwise one schema on standard output.

Exit codes: 0 success, 2 usage error, unreadable input, or a CRD for which no page
could be written, 130 interrupted before any page was written.`,
		Example: `  celadon docs crd.yaml
  celadon docs crds/ -o html --out site/
  celadon docs crds/ -o jsonschema --out .schemas/`,
		RunE: func(cmd *cobra.Command, crds []string) error {
			command.AddTo(cmd, "crd", crds)
			if err := o.Check(); err != nil {
				return command.SeeHelp(cmd, err)
			}
			return docs.Docs(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, true, "crd")
	command.Values(cmd, "output", docs.DocsOutputs...)
	withoutFiles(cmd, "steps", "seed")
	return cmd
}
