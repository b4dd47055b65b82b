package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/check"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

const checkHelp = `Check validates objects against their CRDs as the API server does: pruning, defaults,
schema, metadata, list types, and CEL rules. OBJECTS and PATHs are files, folders
(searched for .yaml, .yml, and .json), or - for standard input. A file can hold
several YAML documents, JSON lines, or a List. Without --crd, the CRDs are searched
among OBJECTS.

Exit codes: 0 all accepted, 1 findings, 2 usage error, unreadable input, an undecided
object, or nothing checked (2 takes precedence over 1), 3 internal error, 130
interrupted.`

// checkDetails is the part of the help that check --help leaves out.
const checkDetails = `With --old, an object is an update if its old version (the same group, kind,
namespace, and name) is found there, so transition rules run; any other object is a
create. --base takes the old versions from a git revision, for example the base of a
pull request.

With --crd-old, check reports how replacing the old CRDs by --crd affects each object:
newly rejected, rejected on update even when unchanged, accepted only because of
ratcheting, or silently changed.

With --cluster, check reads objects and CRDs from a cluster; with --crd too, it
reports how upgrading to those CRDs would affect the objects. Kinds are read in their
storage version. Without --cluster, check connects to no API server.

-o yaml and -o wide print the persisted objects, as kubectl get does. --diff shows how
each persisted object differs from the input, and --persisted adds it to JSON.
--field-selector skips objects as kubectl get does. --subresource scale simulates
kubectl scale.

With --policy, check also evaluates the admission policies in PATH, with their bindings,
for each object, as sent by --as USER: mutating policies before the CRD, validating ones
after it. What only a cluster knows, such as params or a Namespace that is not in PATH,
makes an object undecided.

For each rejected object, check prints the message that kubectl would print, followed
by the location and an excerpt of each cause, the failed rule, and the values in it.

Flags can also be set in .celadon.yaml, in this folder or a parent folder within the
repository, unless they could weaken the check. With --base, the .celadon.yaml of that
revision applies.`

const checkExamples = `  # Check a repository with CRDs and objects.
  celadon check .

  # Check a folder of objects against one CRD.
  celadon check --crd crd.yaml objects/

  # Check a whole cluster before you upgrade its CRDs.
  celadon check --cluster --context prod -A --crd new/

  # Check a pull request as updates to main, with inline annotations.
  celadon check --crd crds/ --base origin/main -o github manifests/

  # Check again whenever a file is saved.
  celadon check --crd crd.yaml --watch objects/`

var checkFlagGroups = []command.FlagGroup{
	{Title: "Input", Flags: []string{"crd", "old", "base", "crd-old", "kustomize", "helm", "values", "exclude", "field-selector", "ignore-field", "substitute", "follow"}},
	{Title: "Validation", Flags: []string{"kube-version", "validate", "subresource", "apply", "field-manager", "force-conflicts",
		"strict-kinds", "no-vet", "admission-plugins", "convert", "convert-ca"}},
	{Title: "Policies", Flags: []string{"policy", "as", "as-group", "as-user-extra", "operation"}},
	{Title: "Report", Flags: []string{"output", "out", "quiet", "verbose", "summary", "diff", "persisted", "now", "max-findings", "findings-exit-code"}},
	{Title: "Baseline", Flags: []string{"baseline", "baseline-out"}},
	{Title: "Cluster", Flags: []string{"cluster", "context", "kubeconfig", "namespace", "all-namespaces", "selector"}},
	{Title: "Partial run", Flags: []string{"shard", "source", "sources", "run"}},
	{Title: "Mode", Flags: []string{"watch"}},
	{Title: "Configuration", Flags: []string{"config", "no-config"}},
}

// checkEssentials are the flags that check --help lists.
var checkEssentials = []string{
	"crd", "old", "base", "crd-old", "kustomize", "helm", "kube-version", "validate", "policy", "output", "quiet", "verbose", "summary",
	"cluster", "context", "namespace", "all-namespaces", "watch",
}

func checkCommand(s command.Streams) *cobra.Command {
	var o check.Options
	cmd := &cobra.Command{
		Use:        "check [--crd PATH...] OBJECTS...",
		Short:      "Check objects against their CRDs, as the API server would on create or update",
		SuggestFor: []string{"apply", "validate", "verify"},
		Long:       checkHelp,
		Example:    checkExamples,
		RunE: func(cmd *cobra.Command, paths []string) error {
			o.Config.Base, o.Config.NoTree = o.Base, o.Cluster.On
			objects, err := o.Config.Defaults(cmd, s.Stderr)
			if err != nil {
				return err
			}
			if len(paths) == 0 && !o.Given() {
				paths = objects
			}
			if len(paths) == 0 && !o.Given() {
				return errors.New("no objects given: want files, folders, or - (see celadon check --help)")
			}
			return check.Run(cmd.Context(), s, &o, paths)
		},
	}
	o.Flags(cmd.Flags())
	command.GroupFlags(cmd, checkFlagGroups, checkEssentials, checkDetails)
	command.Operands(cmd, true, "crd", "old", "crd-old", "policy", "kustomize", "helm", "values", "substitute", "baseline", "convert-ca", "config")
	command.Values(cmd, "output", print.Formats()...)
	command.Values(cmd, "validate", "strict", "warn", "ignore")
	command.Values(cmd, "apply", "client", "server", "replace")
	command.Values(cmd, "subresource", slices.Concat(policyrequest.Updated, policyrequest.Sent)...)
	command.KubeVersions(cmd, "kube-version")
	cluster.Complete(cmd)
	withoutFiles(cmd, "base", "exclude", "max-findings", "field-selector", "now", "convert", "shard", "source", "sources", "run",
		"findings-exit-code")
	return cmd
}
