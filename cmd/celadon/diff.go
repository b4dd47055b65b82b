package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/diff"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
)

const diffHelp = `Diff tells what a change of CRDs does to objects: which the old CRD serves and the
new one refuses, or keeps less of, each shown by an object; what is proved to break
nothing; and what is not known, with how far was looked. OLD and NEW are files,
folders or -, compared by the names of their CRDs; with --base the old CRDs are
those of PATH at a git revision, and with --cluster those of a cluster, whose objects
are looked at too.

Each object is shown as a create, as an update to it from another object, and as an
update that changes nothing: ratcheting lets many old objects live. First comes
what the API server says to the new CRD in the place of the old one.

Exit codes: 0 nothing breaks, by proof or because nothing was found (the report says
which), 1 something breaks, 2 usage or unreadable input (2 wins over 1), 130
interrupted.`

const diffExamples = `  celadon diff old.yaml new.yaml

  # A pull request, as a comment.
  celadon diff --base origin/main -o markdown config/crd

  # What it would do to what a cluster has.
  kubectl get crontabs -A -o json | celadon diff --objects - old.yaml new.yaml
  celadon diff --cluster new.yaml`

func diffCommand(s command.Streams) *cobra.Command {
	var o diff.Options
	cmd := &cobra.Command{
		Use:     "diff OLD NEW | diff --base REV PATH... | diff --cluster NEW...",
		Short:   "Show what a change of CRDs breaks, with an example object or a proof",
		Long:    diffHelp,
		Example: diffExamples,
		RunE: func(cmd *cobra.Command, paths []string) error {
			o.Config.Base, o.Config.NoTree = o.Base, o.Cluster.On
			crds, err := o.Config.Defaults(cmd, s.Stderr)
			if err != nil {
				return err
			}
			if len(paths) == 0 {
				paths = crds
			}
			return diff.Run(cmd.Context(), s, &o, paths)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, true, "objects", "allow", "convert-ca", "config")
	command.Values(cmd, "output", diff.Outputs...)
	cluster.Complete(cmd)
	command.KubeVersions(cmd)
	for _, flag := range []string{"base", "steps", "seed", "convert"} {
		command.Values(cmd, flag)
	}
	return cmd
}
