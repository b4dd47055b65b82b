package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/find"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
)

func findCommand(s command.Streams) *cobra.Command {
	o := find.Options{Server: builtins.Alone(), Nearest: builtins.Nearest}
	cmd := &cobra.Command{
		Use:   "find CRD...",
		Short: "Find an example object that a rule rejects, accepts, or fails on",
		Long: `Find generates example objects for the rules of CRDs: for each rule, an object that is
rejected by this rule alone, and an old object if it is a transition rule. Use --want
for an accepted object on which the rule ran, an object on which the rule fails to
evaluate, or an object on which the rule exceeds its cost limit. --full and --minimal
write a sample of each CRD instead.

With --policy, find looks for requests to admission policies instead: for each
validation, a create, an update, or a delete that it denies, or, with --want error, on
which the policy fails. For each mutation of a MutatingAdmissionPolicy, it looks for an
object that the mutation changes, and for one that it makes invalid. With --old-policy,
it compares policies: it looks for requests that only one side denies.

Every object is validated as the API server would validate it. If no such object
exists, find prints a proof if it has one. If no object is found and there is no proof,
such an object may still exist.

Exit codes: 0 every object was found or proved not to exist, 1 a result is unknown, a
rule fails, exceeds its cost limit, or rejects nothing, or a version accepts nothing,
2 usage error, unreadable input, or a work budget that is used up (2 takes precedence
over 1), 130 interrupted, with the results so far.`,
		Example: `  celadon find crd.yaml
  celadon find --crd crd.yaml --at spec --rule 0 -o yaml
  celadon find --crd crd.yaml --want error
  celadon find --crd crd.yaml --full -o yaml
  celadon find --crd crd.yaml --policy policies/ --want all
  celadon find --crd crd.yaml --policy policies/ --old-policy old-policies/`,
		RunE: func(cmd *cobra.Command, crds []string) error {
			command.AddTo(cmd, "crd", crds)
			if _, err := o.Config.Defaults(cmd, s.Stderr); err != nil {
				return err
			}
			if err := o.Check(cmd.Flags()); err != nil {
				return command.SeeHelp(cmd, err)
			}
			return find.Run(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, true, "crd", "policy", "old-policy", "config")
	command.Values(cmd, "want", find.Wants...)
	command.Values(cmd, "output", find.Outputs...)
	command.KubeVersions(cmd, "kube-version")
	withoutFiles(cmd, "version", "at", "rule", "steps", "seed")
	return cmd
}
