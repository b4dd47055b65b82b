package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/merge"
)

const mergeHelp = `Merge makes one report of those that celadon check -o jsonl wrote with --shard or
--source: the report that one run over all of it would have written, byte for byte.
A REPORT is a file, or a folder with files that end in .jsonl.

The objects of a source stand in the order of the input, the sources in the order
of their names. Reports of other runs, flags, CRDs or input than the first are refused.
Of what is cut off nothing is merged. Missing shards are named, in the report too; a
source that has no report at all is missed where celadon check --sources said how many
there are, or --source names it.

Exit codes are those of celadon check: 0 all accepted, 1 findings, 2 a report that
is missing, cut off or there twice, or an exit code 2 of a part, 3 a bug in celadon,
130 interrupted.`

const mergeExamples = `  # The shards of one run.
  celadon merge reports/

  # A fleet, for code scanning.
  celadon merge -o sarif --out fleet.sarif --source eu-1,eu-2,us-1 reports/`

func mergeCommand(s command.Streams) *cobra.Command {
	var o merge.Options
	cmd := &cobra.Command{
		Use:     "merge REPORT...",
		Short:   "Merge the reports of shards and clusters into one",
		Long:    mergeHelp,
		Example: mergeExamples,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return merge.Run(cmd.Context(), s, &o, paths)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, true, "baseline")
	command.Values(cmd, "output", "text", "yaml", "json", "jsonl", "junit", "sarif", "github")
	for _, flag := range []string{"source", "max-findings", "findings-exit-code"} {
		command.Values(cmd, flag)
	}
	return cmd
}
