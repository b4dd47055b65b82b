package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/manifests"
)

const manifestsJobHelp = `Job prints an Indexed Job that checks a cluster's objects from within, a shard a
completion, and what the Job needs: a service account that may list the CRDs and the
kinds that --crd has, a ConfigMap with these CRDs, and a volume for the reports.

An eviction retries, input that cannot be read fails its index alone, and findings
are no failure: celadon merge says what was found.`

const manifestsJobExamples = `  celadon manifests job --crd new/ --image registry.example.com/celadon:v0.1.0 --shards 20 | kubectl apply --server-side -f -`

func manifestsCommand(s command.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "manifests",
		Short: "Print manifests that run celadon in a cluster",
		Args:  command.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var o manifests.Options
	job := &cobra.Command{
		Use:     "job --crd PATH... --image IMAGE",
		Short:   "Print an Indexed Job that checks the objects of a cluster in shards",
		Long:    manifestsJobHelp,
		Example: manifestsJobExamples,
		Args:    command.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return manifests.Job(cmd.Context(), s, &o) },
	}
	o.Flags(job.Flags())
	command.Operands(job, false, "crd")
	for _, flag := range []string{"shards", "parallelism", "image", "name", "namespace", "reports"} {
		command.Values(job, flag)
	}
	cmd.AddCommand(job)
	return cmd
}
