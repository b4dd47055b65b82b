package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/diff"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
)

const diffHelp = `Diff reports how a change of CRDs affects objects: breaking changes, each with an
example object that the old CRD serves and the new CRD rejects or persists with fewer
values; changes that are proved to break nothing; and changes whose effect is unknown,
with the extent of the search. OLD and NEW are files, folders, or -, and their CRDs are
paired by name. With --base, the old CRDs are those of PATH at a git revision. With
--cluster, the old CRDs are those of a cluster, and its objects are checked too.

With --to-kube-version, the CRDs stay the same, and the report compares Kubernetes versions:
whether both accept each CRD, rules with another estimated cost, and objects that they
treat differently.

Each object is shown as a create, as an update from another object, and as an update
that changes nothing, because ratcheting accepts many old objects. It breaks only the
change below which it is shown; if that is impossible, the report names the others. The
report begins with the API server's verdict on replacing the old CRD by the new one.

-o markdown prints a comment of at most 40 lines, with a line for each breaking change.
With --verbose, it has all changes and example objects.

Exit codes: 0 nothing breaks, either proved or because nothing was found (the report
distinguishes them), 1 something breaks, 2 usage error or unreadable input (2 takes
precedence over 1), 130 interrupted.`

const diffExamples = `  celadon diff old.yaml new.yaml

  # Comment on a pull request.
  celadon diff --base origin/main -o markdown config/crd

  # Show how the change affects the objects of a cluster.
  kubectl get crontabs -A -o json | celadon diff --objects - old.yaml new.yaml
  celadon diff --cluster new.yaml

  # Show what an upgrade of Kubernetes changes.
  celadon diff --kube-version 1.35 --to-kube-version 1.37 config/crd`

func diffCommand(s command.Streams) *cobra.Command {
	var o diff.Options
	cmd := &cobra.Command{
		Use:     "diff OLD NEW | diff --base REV PATH... | diff --cluster NEW... | diff --to-kube-version X.Y PATH...",
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
	command.KubeVersions(cmd, "kube-version", "to-kube-version")
	withoutFiles(cmd, "base", "steps", "seed", "convert")
	return cmd
}
