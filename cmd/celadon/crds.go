package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/crds"
)

func crdsCommand(s command.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "crds",
		Short: "Copy CRDs from charts, repositories, and other places into a folder",
		Long: `Crds copies CRDs from other places into a folder, from which the other commands read
them without a network. A lock file in the folder lists the sources, with the versions
and digests of their content. Commit the folder.

A SOURCE is one of

  https://HOST/PATH                             YAML, or an archive such as a chart
  oci://REGISTRY/REPOSITORY:TAG                 an OCI artifact, such as a chart
  git+https://HOST/REPOSITORY?ref=REV//FOLDER   a revision of a git repository
  go:MODULE@VERSION//FOLDER                     a Go module
  kustomize:FOLDER                              the output of kustomize build
  cluster:CONTEXT                               the CRDs of a cluster
  PATH                                          a file, a folder, or an archive

The programs git, go, and kustomize or kubectl must be installed for their sources. See
docs/install.md.`,
		Example: `  celadon crds add https://example.com/releases/v1.2.3/crds.yaml charts/app-1.2.3.tgz
  celadon crds add 'git+https://example.com/operator?ref=v1.2.3//config/crd'
  celadon check --crd crds/ manifests/`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(crdsAdd(s), crdsSync(s), crdsList(s))
	return cmd
}

func crdsAdd(s command.Streams) *cobra.Command {
	var o crds.Options
	cmd := &cobra.Command{
		Use:     "add SOURCE...",
		Short:   "Add sources, and write their CRDs into the folder",
		Example: `  celadon crds add https://example.com/releases/v1.2.3/crds.yaml charts/app-1.2.3.tgz`,
		RunE: func(cmd *cobra.Command, sources []string) error {
			if len(sources) == 0 {
				return command.SeeHelp(cmd, errors.New("no sources given"))
			}
			return crds.Add(cmd.Context(), s, &o, sources)
		},
	}
	o.Flags(cmd.Flags(), true)
	return cmd
}

func crdsSync(s command.Streams) *cobra.Command {
	var o crds.Options
	defaults := config.Flags{Section: "crds", Arguments: "sources", Join: crds.Join}
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Fetch the sources in .celadon.yaml or in the lock file again",
		Long: `Sync fetches the sources that .celadon.yaml lists, or else those in the lock file, and makes
the folder equal to them. If the content of a source in the lock file has changed, it
writes nothing and exits with 1, unless --update is set. The file can list any SOURCE,
but cluster: only with --kubeconfig, and no PATH out of the tree:

  crds:
    sources: [https://example.com/crds.yaml, charts/app-1.2.3.tgz]`,
		Example: `  celadon crds sync --update`,
		Args:    command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sources, err := defaults.Defaults(cmd, s.Stderr)
			if err != nil {
				return err
			}
			return crds.Sync(cmd.Context(), s, &o, sources)
		},
	}
	defaults.Add(cmd.Flags())
	command.Operands(cmd, false, "config")
	o.Flags(cmd.Flags(), true)
	cmd.Flags().BoolVar(&o.Update, "update", false, "accept changed content")
	return cmd
}

func crdsList(s command.Streams) *cobra.Command {
	var o crds.Options
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sources and their CRDs, and exit with 1 if the files were changed",
		Example: `  celadon crds list`,
		Args:    command.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return crds.List(s, &o) },
	}
	o.Flags(cmd.Flags(), false)
	return cmd
}
