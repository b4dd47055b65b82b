package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/manifests"
)

const manifestsJobHelp = `Job prints an Indexed Job that checks the objects of a cluster from inside it, one
shard per completion, and the resources that the Job needs: a service account that may
list CRDs and the kinds of the CRDs in --crd, a ConfigMap with those CRDs, and a
volume for the reports.

Evicted pods are retried. Unreadable input fails only the index of its shard. Findings
do not fail the Job: celadon merge reports them.`

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
	withoutFiles(job, "shards", "parallelism", "image", "name", "namespace", "reports")
	cmd.AddCommand(job)
	return cmd
}
