package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/types"
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

  # A pull request: updates of what main has, shown inline.
  celadon check --crd crds/ --base origin/main -o github manifests/

  # Which rules fail most, and what they cost.
  celadon check --crd crds/ --summary --quiet objects/

  # Again at each save.
  celadon check --crd crd.yaml --watch objects/`

// checkOptions are the flags of celadon check.
type checkOptions struct {
	crds, olds, crdOlds   []string
	base                  string
	subresource           string
	kubeVersion           string
	validate              string
	output                string
	strictKinds           bool
	quiet, verbose, watch bool
	summary               bool
	maxFindings           int
	config                string
	noConfig              bool
	validation            string // validate in the server's words
}

func (o *checkOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.crds, "crd", nil, "CRDs: `PATH` of a file, a folder or - (repeatable)")
	f.StringArrayVar(&o.olds, "old", nil, "old objects: `PATH` of a file, a folder or - (repeatable)")
	f.StringVar(&o.base, "base", "", "old objects: those of OBJECTS at a git `REV`")
	f.StringArrayVar(&o.crdOlds, "crd-old", nil, "CRDs before an upgrade to --crd: `PATH` of a file, a folder or - (repeatable)")
	f.StringVar(&o.subresource, "subresource", "", "update through a subresource: status")
	f.StringVar(&o.kubeVersion, "kube-version", "", "Kubernetes `X.Y` to stand for (default the newest known); costs and texts stay those of the linked release")
	f.StringVar(&o.validate, "validate", "strict", "unknown and duplicate fields: strict, warn or ignore")
	f.BoolVar(&o.strictKinds, "strict-kinds", false, "an object whose CRD was not given is a finding")
	f.StringVarP(&o.output, "output", "o", "text", "report as "+report.Formats)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only what kubectl would")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print every object, and in json the values in failed rules")
	f.IntVar(&o.maxFindings, "max-findings", 0, "print no more than `N` findings; all are counted")
	f.BoolVar(&o.summary, "summary", false, "add tables by kind and by rule, the worst rule first, with its share of the cost")
	f.BoolVarP(&o.watch, "watch", "w", false, "check again whenever a file changes")
	f.StringVar(&o.config, "config", "", "defaults: `FILE` instead of the nearest .celadon.yaml")
	f.BoolVar(&o.noConfig, "no-config", false, "look for no .celadon.yaml")
	for name, values := range map[string][]string{
		"output":      {"text", "json", "jsonl", "junit", "sarif", "github"},
		"validate":    {"strict", "warn", "ignore"},
		"subresource": {"status"},
	} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// complete adds the defaults of the configuration file and says what is wrong
// with the flags.
func (o *checkOptions) complete(cmd *cobra.Command, paths []string) ([]string, error) {
	objects, err := o.defaults(cmd)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		paths = objects
	}
	if len(paths) == 0 {
		return nil, errors.New("no objects given: want files, folders or - (see celadon check --help)")
	}
	return paths, o.valid(paths)
}

func (o *checkOptions) valid(paths []string) error {
	switch {
	case len(o.crds) == 0:
		return errors.New("no CRD given: want --crd PATH (see celadon check --help)")
	case o.subresource != "" && o.subresource != "status":
		return fmt.Errorf("--subresource %q: want status", o.subresource)
	case o.subresource == "status" && len(o.olds) == 0 && o.base == "":
		return errors.New("--subresource status: want --old PATH with the objects that it updates")
	case len(o.crdOlds) > 0 && (len(o.olds) > 0 || o.base != "" || o.subresource != ""):
		return errors.New("--crd-old: looks at objects as they are: want no --old, --base or --subresource")
	case o.maxFindings < 0:
		return fmt.Errorf("--max-findings %d: want 1 or more, or 0 for all", o.maxFindings)
	case o.quiet && o.verbose:
		return errors.New("--quiet and --verbose: want one")
	case count(slices.Concat(paths, o.crds, o.olds, o.crdOlds), "-") > 1:
		return errors.New("- is given more than once: standard input can be read only once")
	case o.base != "" && slices.Contains(paths, "-"):
		return errors.New("--base: standard input has no revision: want files or folders")
	case o.watch && slices.Contains(slices.Concat(paths, o.crds, o.olds, o.crdOlds), "-"):
		return errors.New("--watch: standard input does not change: want files or folders")
	}
	if _, err := types.ParseVersion(o.kubeVersion); err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	var err error
	o.validation, err = o.fieldValidation()
	return err
}

func count(texts []string, text string) (n int) {
	for _, t := range texts {
		if t == text {
			n++
		}
	}
	return n
}

// fieldValidation is kubectl's flag in the server's words.
func (o *checkOptions) fieldValidation() (string, error) {
	switch o.validate {
	case "strict", "true":
		return "Strict", nil
	case "warn":
		return "Warn", nil
	case "ignore", "false":
		return "Ignore", nil
	}
	return "", fmt.Errorf("--validate %q: want strict, warn or ignore", o.validate)
}

// explains is true where the report shows the values in failed rules.
func (o *checkOptions) explains() bool {
	switch o.output {
	case "json", "jsonl":
		return o.verbose
	case "text":
		return !o.quiet
	}
	return true
}

// locates is true where the report shows places.
func (o *checkOptions) locates() bool { return o.output != "text" || !o.quiet }

func (a *app) printer(o *checkOptions, out io.Writer) (report.Printer, error) {
	v, err := types.ParseVersion(o.kubeVersion)
	if err != nil {
		return nil, err
	}
	return report.New(o.output, out, report.Options{
		KubeVersion: v.String(),
		StrictKinds: o.strictKinds,
		Quiet:       o.quiet,
		Verbose:     o.verbose,
		Version:     ownVersion(),
	})
}
