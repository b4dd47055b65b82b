package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/types"
)

func vetCommand(s command.Streams) *cobra.Command {
	var o vet.Options
	cmd := &cobra.Command{
		Use:   "vet [--old CRD] CRD... | vet [--crd CRD] GO-PACKAGES",
		Short: "Vet CRDs: whether the API server accepts them, what rules cost, and which bounds help",
		Long: `Vet decides each CRD as the API server would on create, or on update where --old
has one of the same name, and shows what its rules may cost, why, and which bounds
make rules fit that cost too much. CRDs are files, folders or -; documents of other
kinds are passed over.

The newest Kubernetes version decides, and the report names the other versions that
differ. --kube-version names one or more versions that must accept the CRDs. Lints, each with a section in docs/lints.md, never change the verdict. With
--find vet also looks for objects: one on which a rule fails to evaluate, with a text
for the rule that does not, or the proof that a rule refuses nothing or a place
accepts nothing. That takes seconds a CRD.

Arguments that end in /... are Go packages: what vet says of the CRDs that a generator
made of them (--crd) is said of the marker comments in Go. See docs/go-markers.md.

Exit codes: 0 all accepted, 1 some refused, 2 usage, unreadable input, no CRD, or a
CRD that asks for more work than is done (2 wins over 1), 130 interrupted.`,
		Example: `  celadon vet crd.yaml
  celadon vet --kube-version 1.30 config/crd/ -o json
  celadon vet --old released/ config/crd/
  celadon vet --find crd.yaml
  celadon vet ./api/...`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f := cmd.Flags().Lookup("kube-version"); f.Changed && o.KubeVersion == "" {
				_, err := types.ParseVersions("")
				return fmt.Errorf("--kube-version: %w", err)
			}
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
			return vet.Run(cmd.Context(), s, &o, args)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, true, "crd", "old", "config")
	command.Values(cmd, "output", vet.Outputs()...)
	command.Values(cmd, "kube-version", vet.KubeVersions()...)
	command.Values(cmd, "no-lint", vet.LintNames()...)
	return cmd
}
