package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/convertcrd"
)

func convertCRDCommand(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "convert-crd FILE...",
		Short: "Rewrite CRDs of apiextensions.k8s.io/v1beta1 as v1",
		Long: `Convert-crd prints files with their CRDs of v1beta1 rewritten as v1: what stands
at the top for all versions goes into each, with its comments. All else stays as it
is. FILE may be -.

Unknown fields, which v1beta1 keeps unless told otherwise, are kept by the schema.
What v1 will refuse of a CRD, as a schema that is not structural, is told on stderr;
celadon vet shows where.

Exit codes: 0 v1 takes them all, 1 it refuses some, 2 usage, unreadable input or no
such CRD, 3 a bug in celadon, 130 interrupted.`,
		Example: `  celadon convert-crd old.yaml > new.yaml`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if len(paths) == 0 {
				return errors.New("no file given: want files or - (see celadon convert-crd --help)")
			}
			return convertcrd.Run(cmd.Context(), s, paths)
		},
	}
	cli.Operands(cmd, true)
	return cmd
}
