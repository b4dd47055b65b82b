package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/check"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
)

const checkHelp = `Check decides each object as the API server would: pruning, defaults, schema,
metadata, list types and CEL rules. OBJECTS and the flags' PATHs are files,
folders (.yaml, .yml and .json below them) or - for standard input; files may
hold several documents, JSON lines or a List.

With --old, an object whose group, kind, namespace and name are found there is
an update of it, so that transition rules run; any other is a create. --base
takes the old objects from a git revision, as a pull request needs it.

With --crd-old, check tells what an upgrade of the CRDs does to the objects:
which were accepted and are refused now, which cannot be updated any more even
when unchanged, which ratcheting saves, and which are silently changed.

With --cluster the objects are those of a cluster, and so are the CRDs; with --crd
too, check tells what an upgrade to these does to the objects. Kinds are read at the
version that is stored. Without --cluster nothing is asked of any server.

-o yaml and -o wide print what would be stored, as kubectl get does; --diff shows
what of it is otherwise than given, and --persisted adds it to JSON. --field-selector
leaves out what kubectl get would. --subresource scale is a write of kubectl scale.

Below what kubectl would print stand the place and an excerpt of each cause, the
rule that failed and the values in it.

Flags may also stand in .celadon.yaml, in this folder or above it in the
repository, as far as they weaken nothing; with --base in that of REV.

Exit codes: 0 all accepted, 1 findings, 2 usage, unreadable input or nothing
checked (2 wins over 1), 3 a bug in celadon, 130 interrupted.`

const checkExamples = `  # A folder of objects against one CRD.
  celadon check --crd crd.yaml objects/

  # A whole cluster, before it gets new CRDs.
  kubectl get httproutes -A -o json | celadon check --crd new/ --crd-old old/ -
  celadon check --cluster --context prod --crd new/

  # A pull request: updates of what main has, shown inline.
  celadon check --crd crds/ --base origin/main -o github manifests/

  # Which rules fail most, and what they cost.
  celadon check --crd crds/ --summary --quiet objects/

  # Again at each save.
  celadon check --crd crd.yaml --watch objects/`

// checkFlagGroups is the order of the flags in the help of check.
var checkFlagGroups = []command.FlagGroup{
	{Title: "Input", Flags: []string{"crd", "old", "base", "crd-old", "exclude", "field-selector", "follow"}},
	{Title: "Validation", Flags: []string{"kube-version", "validate", "subresource", "strict-kinds", "no-vet", "convert", "convert-ca"}},
	{Title: "Report", Flags: []string{"output", "out", "quiet", "verbose", "summary", "diff", "persisted", "now", "max-findings", "findings-exit-code"}},
	{Title: "Baseline", Flags: []string{"baseline", "baseline-out"}},
	{Title: "Cluster", Flags: []string{"cluster", "context", "namespace", "selector"}},
	{Title: "Partial run", Flags: []string{"shard", "source", "sources", "run"}},
	{Title: "Mode", Flags: []string{"watch", "pipe"}},
	{Title: "Configuration", Flags: []string{"config", "no-config"}},
}

func checkCommand(s command.Streams) *cobra.Command {
	var o check.Options
	cmd := &cobra.Command{
		Use:     "check --crd PATH... OBJECTS...",
		Short:   "Check objects against their CRDs, as the API server would on create or update",
		Long:    checkHelp,
		Example: checkExamples,
		RunE: func(cmd *cobra.Command, paths []string) error {
			o.Config.Base, o.Config.NoTree = o.Base, o.Cluster.On
			objects, err := o.Config.Defaults(cmd, s.Stderr)
			if err != nil {
				return err
			}
			if len(paths) == 0 && !o.Pipe && !o.Cluster.On {
				paths = objects
			}
			if len(paths) == 0 && !o.Pipe && !o.Cluster.On {
				return errors.New("no objects given: want files, folders or - (see celadon check --help)")
			}
			return check.Run(cmd.Context(), s, &o, paths)
		},
	}
	o.Flags(cmd.Flags())
	command.GroupFlags(cmd, checkFlagGroups)
	command.Operands(cmd, true, "crd", "old", "crd-old", "baseline", "convert-ca", "config")
	command.Values(cmd, "output", "text", "wide", "yaml", "json", "jsonl", "junit", "sarif", "github")
	command.Values(cmd, "validate", "strict", "warn", "ignore")
	command.Values(cmd, "subresource", "status", "scale")
	command.KubeVersions(cmd)
	cluster.Complete(cmd)
	for _, flag := range []string{"base", "exclude", "max-findings", "field-selector", "now", "convert", "shard", "source", "sources", "run", "findings-exit-code"} {
		command.Values(cmd, flag)
	}
	return cmd
}
