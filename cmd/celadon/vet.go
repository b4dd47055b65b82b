package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vetting"
	"github.com/celadon-cel/celadon/engine/vet"
)

func vetCommand(s cli.Streams) *cobra.Command {
	var o vetting.Options
	cmd := &cobra.Command{
		Use:   "vet [--old CRD] CRD...",
		Short: "Vet CRDs: would the API server accept them, what do their rules cost, what would make them fit",
		Long: `Vet decides each CRD as the API server would on create, or on update where --old
has one of the same name, and shows what its rules may cost, why, and which bounds
make rules fit that cost too much. CRDs are files, folders or -; documents of other
kinds are passed over.

Without --kube-version it also tells the lowest Kubernetes version that accepts all
rules. Lints, each on a page of docs/lints.md, never change the verdict.

Exit codes: 0 all accepted, 1 some refused, 2 usage, unreadable input, no CRD, or a
CRD that asks for more work than is done (2 wins over 1), 130 interrupted.`,
		Example: `  celadon vet crd.yaml
  celadon vet --kube-version 1.30 config/crd/ -o json
  celadon vet --old released/ config/crd/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			crds, err := o.Config.Defaults(cmd, s.Stderr)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = crds
			}
			if len(args) == 0 {
				return errors.New("no CRDs given: want files, folders or - (see celadon vet --help)")
			}
			return vetting.Run(cmd.Context(), s, &o, args)
		},
	}
	o.Flags(cmd.Flags())
	cli.Values(cmd, "output", vetting.Outputs()...)
	cli.Values(cmd, "kube-version", vetting.KubeVersions()...)
	cli.Values(cmd, "no-lint", vet.LintNames()...)
	return cmd
}
