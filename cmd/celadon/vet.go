package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/types"
)

func vetCommand(s command.Streams) *cobra.Command {
	o := vet.Options{Builtins: vetServer{builtins.Alone()}}
	cmd := &cobra.Command{
		SuggestFor: []string{"lint"},
		Use:        "vet [--old CRD] CRD|POLICY... | vet [--crd CRD] GO-PACKAGES",
		Short:      "Vet CRDs: whether the API server accepts them, what rules cost, and which bounds help",
		Long: `Vet validates each CRD as the API server would on create, or on update if --old has a
CRD of the same name. It shows how much each rule may cost and why, and which bounds
make expensive rules fit the limit. CRDs are files, folders, or -; documents of other
kinds are skipped, except admission policies, their bindings, webhook configurations with
matchConditions, classes and claims of devices, and the files of kube-apiserver with CEL.
Vet reports errors, types, cost, and lints of these, too.

The verdict is that of the newest Kubernetes version, and the report names the versions
with another verdict. --kube-version selects the versions that must accept the CRDs.
Lints never change the verdict; docs/lints.md describes them. With --find, vet also
searches for objects on which a rule fails to evaluate and suggests a guarded rule, or
proves that a rule rejects nothing or that a path accepts nothing. This takes a few
seconds per CRD.

Arguments that end in /... are Go packages: findings about the CRDs that were generated
from them (--crd) are reported at their marker comments. See docs/go-markers.md.

Exit codes: 0 all accepted, 1 some rejected, 2 usage error, unreadable input, neither a
CRD nor a policy, or a CRD that exceeds the work limit (2 takes precedence over 1), 130
interrupted.`,
		Example: `  celadon vet crd.yaml
  celadon vet --kube-version 1.30 config/crd/ -o json
  celadon vet --old released/ config/crd/
  celadon vet --find crd.yaml
  celadon vet config/crd/ config/policies/
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
				return errors.New("no CRDs given: want files, folders, or - (see celadon vet --help)")
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
