package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/merge"
)

const mergeHelp = `Merge combines the reports that celadon check -o jsonl wrote with --shard or --source.
The result is byte for byte the report that a single run over all input would have
written. A REPORT is a file, or a folder with files that end in .jsonl.

The objects of a source are in the order of the input; sources are sorted by name. A
report is rejected if its run, flags, CRDs, or input differ from those of the first
report. Truncated reports are not merged. Missing shards are listed, also in the
report. A source without any report is detected if celadon check --sources gave the
number of sources, or if --source names it.

Exit codes are those of celadon check: 0 all accepted, 1 findings, 2 a missing,
truncated, or duplicate report, or a report of a run that ended with exit code 2, 3
internal error, 130 interrupted.`

const mergeExamples = `  # Merge the shards of one run.
  celadon merge reports/

  # Merge the reports of a fleet for code scanning.
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
	command.Values(cmd, "output", merge.Formats...)
	withoutFiles(cmd, "source", "max-findings", "findings-exit-code")
	return cmd
}
