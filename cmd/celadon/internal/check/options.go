package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/reports"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Options holds the flags of celadon check.
type Options struct {
	Exclude               []string
	NoVet                 bool
	CRDs, Olds, CRDOlds   []string
	Kustomize, Charts     []string // to render
	Values                []string
	rendered              []input.Chunk
	IgnoreFields          []string
	Substitute            []string
	adjust                *adjustment // nil if objects are not changed
	Base                  string
	Apply, FieldManager   string
	ForceConflicts        bool
	Subresource           string
	KubeVersion           string
	Validate              string
	Output                string
	Reports               reports.Files
	StrictKinds           bool
	Quiet, Verbose, Watch bool
	Summary               bool
	MaxFindings           int
	Persisted, Diff       bool
	FieldSelector, Now    string
	Config                config.Flags
	Convert               converter.Flags
	Shard, Source, Run    string
	Sources               int    // 0 if unknown
	Out                   string // "" for standard output
	FindingsExitCode      int
	Baseline, BaselineOut string
	Plugins               []string // of admission
	policy                policyOptions
	flags                 *pflag.FlagSet
	shard                 finding.Shard
	Cluster               cluster.Flags
	validation            string          // Validate as a fieldValidation of the API server
	selector              fields.Selector // nil selects everything
	now                   time.Time       // zero for the current time
}

// Flags adds the flags of celadon check to f.
func (o *Options) Flags(f *pflag.FlagSet) {
	o.flags, f.SortFlags = f, false
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file, a folder, or - (repeatable; default: OBJECTS)")
	f.StringArrayVar(&o.Olds, "old", nil, "read old objects from `PATH`: a file, a folder, or - (repeatable)")
	f.StringArrayVar(&o.Exclude, "exclude", nil, "in folders, skip files that match `GLOB`: a name, or a path if it contains / (repeatable)")
	f.StringArrayVarP(&o.Kustomize, "kustomize", "k", nil, "also check the output of kustomize build `FOLDER` (repeatable)")
	f.StringArrayVar(&o.Charts, "helm", nil, "also check the output of helm template `CHART`, a folder or an archive (repeatable)")
	f.StringArrayVar(&o.Values, "values", nil, "with --helm: `FILE` with values of the charts (repeatable)")
	f.StringVar(&o.Base, "base", "", "read the old objects from OBJECTS at a git `REV`")
	f.StringVar(&o.Apply, "apply", "", "update old objects by a `KIND` of write: client, server, or replace (default: by annotations and managedFields)")
	f.StringVar(&o.FieldManager, "field-manager", "", "`NAME` of the field manager of server-side apply (default kubectl)")
	f.BoolVar(&o.ForceConflicts, "force-conflicts", false, "let server-side apply take fields from other managers")
	f.StringArrayVar(&o.CRDOlds, "crd-old", nil, "read the CRDs before an upgrade to --crd from `PATH`: a file, a folder, or - (repeatable)")
	f.StringVar(&o.Subresource, "subresource", "", "update through a `SUBRESOURCE`: status, scale as kubectl scale does, or one of a built-in kind, such as resize")
	f.StringArrayVar(&o.IgnoreFields, "ignore-field", nil, "remove the `FIELD`, such as sops, from all objects, because another tool does (repeatable)")
	f.StringArrayVar(&o.Substitute, "substitute", nil, "substitute ${NAME} as Flux does: with the values in `FILE`, or env for the environment (repeatable)")
	f.StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to emulate (default: the newest supported)")
	f.StringVar(&o.Validate, "validate", "strict", "treatment of unknown and duplicate fields: strict, warn, or ignore")
	f.BoolVar(&o.NoVet, "no-vet", false, "do not report CRDs that the API server would reject")
	f.BoolVar(&o.StrictKinds, "strict-kinds", false, "report objects without a CRD as findings")
	o.policy.flags(f)
	f.StringSliceVar(&o.Plugins, "admission-plugins", nil, "let these admission plugins take part in writes of built-in kinds: `NAMES`, with commas between them; \"\" is none (default: those of a new cluster; see docs/builtin.md)")
	o.ReportFlags(f, print.Formats())
	f.BoolVar(&o.Persisted, "persisted", false, "in json and jsonl: add each accepted object as persisted")
	f.BoolVar(&o.Diff, "diff", false, "in text: show how the persisted object differs from the input")
	f.StringVar(&o.FieldSelector, "field-selector", "", "check only objects with these `FIELDS`, as in kubectl get: metadata.name, metadata.namespace, and the CRD's selectable fields")
	f.StringVar(&o.Now, "now", "", "in wide: show ages as of `TIME` (RFC 3339)")
	f.StringVar(&o.Shard, "shard", "", "check only shard `I/N`, with I from 0; use -o jsonl for celadon merge")
	f.StringVar(&o.Source, "source", "", "`NAME` of the objects' source in each record, such as a cluster; use -o jsonl for celadon merge")
	f.IntVar(&o.Sources, "sources", 0, "with --source: there are `N` sources, so that celadon merge detects missing reports")
	f.StringVar(&o.Run, "run", "", "with --shard or --source: `NAME` of the run, so that celadon merge rejects reports of other runs")
	f.BoolVar(&o.Summary, "summary", false, "add tables by kind and by rule, worst rule first, with shares of the cost")
	f.BoolVarP(&o.Watch, "watch", "w", false, "check again whenever a file changes")
	o.Cluster.Add(f, "check the objects of a cluster against its CRDs; with --crd, report the effect of an upgrade to these (see docs/cluster.md)")
	o.Cluster.AddSelector(f)
	o.Convert.Add(f)
	o.Config.Arguments = "objects"
	o.Config.Add(f)
	config.FromTree.Set(f, "crd", "strict-kinds", "output", "quiet", "verbose", "summary")
	config.Stricter.Set(f, "kube-version", "validate", "ignore-field")
	config.Never.Set(f, "shard", "source", "sources", "run")
}

// ReportFlags adds the flags that control the report.
func (o *Options) ReportFlags(f *pflag.FlagSet, formats []string) {
	o.Reports.Flag(f, &o.Output, formats)
	f.StringVar(&o.Out, "out", "", "write the report to `FILE`, completely or not at all")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "print only the output of kubectl")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print every object, and in json the values in failed rules")
	f.IntVar(&o.MaxFindings, "max-findings", 0, "print at most `N` findings; all are counted")
	f.IntVar(&o.FindingsExitCode, "findings-exit-code", command.Findings, "exit with `N` if there are findings, for example 0 in a Job")
	f.StringVar(&o.Baseline, "baseline", "", "do not report the findings in `FILE`; with --base, its version at REV")
	f.StringVar(&o.BaselineOut, "baseline-out", "", "write the current findings to `FILE` as the new baseline")
}

func (o *Options) checkReport() error {
	code := o.FindingsExitCode
	switch {
	case code < 0 || code > 125 || code == command.Usage || code == command.Bug:
		return fmt.Errorf("--findings-exit-code %d: want 0 to 125, except 2 and 3, which report other problems", code)
	case o.MaxFindings < 0:
		return fmt.Errorf("--max-findings %d: want 1 or more, or 0 for all", o.MaxFindings)
	case o.Quiet && o.Verbose:
		return errors.New("--quiet and --verbose: want only one of them")
	case o.Out == "-":
		return errors.New("--out -: want a file; without --out the report goes to standard output")
	case o.BaselineOut == "-":
		return errors.New("--baseline-out -: want a file")
	}
	return nil
}

// Check returns an error if the flags are invalid, and completes the options.
func (o *Options) Check(paths []string) error {
	switch {
	case slices.Contains(policyrequest.Sent, o.Subresource) && len(o.policy.paths) == 0:
		return fmt.Errorf("--subresource %s: only policies validate its requests: use it with --policy PATH", o.Subresource)
	case o.Subresource != "" && !slices.Contains(slices.Concat(policyrequest.Updated, policyrequest.Sent), o.Subresource):
		return fmt.Errorf("--subresource %q: want %s", o.Subresource, phrase.Or(slices.Concat(policyrequest.Updated, policyrequest.Sent)))
	case slices.Contains(policyrequest.Updated, o.Subresource) && len(o.Olds) == 0 && o.Base == "":
		return fmt.Errorf("--subresource %s: use --old PATH with the objects that it updates", o.Subresource)
	case o.Base != "" && len(o.Olds) > 0:
		return errors.New("--base and --old: both have old objects: want only one of them")
	case o.renders() && (o.Cluster.On || o.Base != ""):
		return errors.New("--kustomize and --helm: do not set --cluster or --base")
	case len(o.Values) > 0 && len(o.Charts) == 0:
		return errors.New("--values: use it with --helm CHART")
	case o.Apply != "" && !slices.Contains(apply.Kinds, apply.Kind(o.Apply)):
		return fmt.Errorf("--apply %q: want client, server, or replace", o.Apply)
	case (o.Apply != "" || o.FieldManager != "" || o.ForceConflicts) && (o.Subresource != "" || o.Cluster.On || len(o.CRDOlds) > 0):
		return errors.New("--apply, --field-manager, --force-conflicts: do not set --subresource, --cluster, or --crd-old")
	case o.Cluster.On && len(paths) > 0:
		return errors.New("--cluster: the objects are read from the cluster: do not name OBJECTS")
	case o.Cluster.On && (len(o.Olds) > 0 || o.Base != "" || len(o.CRDOlds) > 0 || o.Subresource != "" || o.Watch):
		return errors.New("--cluster: checks the objects as stored: do not set --old, --base, --crd-old, --subresource, or --watch")
	case o.upgrades() && (o.Output == "yaml" || o.Output == "wide" || o.Persisted || o.Diff):
		return errors.New(o.upgrade() + ": compares two persisted objects: do not set -o yaml, -o wide, --persisted, or --diff")
	case o.Persisted && o.Output != "json" && o.Output != "jsonl":
		return errors.New("--persisted: use -o json or -o jsonl (-o yaml prints only the objects)")
	case o.Diff && o.Output != "text":
		return errors.New("--diff: use -o text (-o yaml prints the objects, --persisted adds them to json)")
	case len(o.CRDOlds) > 0 && (len(o.Olds) > 0 || o.Base != "" || o.Subresource != ""):
		return errors.New("--crd-old: checks the objects as stored: do not set --old, --base, or --subresource")
	case o.Base != "" && slices.Contains(paths, "-"):
		return errors.New("--base: standard input has no revision: want files or folders")
	case o.Watch && (o.Out != "" || o.BaselineOut != "" || o.partial()):
		return errors.New("--watch: each run writes a new report: do not set --out, --baseline-out, --shard, or --source")
	case o.Watch && slices.Contains(slices.Concat(paths, o.CRDs, o.Olds, o.CRDOlds, o.policy.paths), "-"):
		return errors.New("--watch: standard input does not change: want files or folders")
	}
	if err := command.OneStdin(slices.Concat(paths, o.CRDs, o.Olds, o.CRDOlds, o.policy.paths)...); err != nil {
		return err
	}
	if _, err := types.ParseVersion(o.KubeVersion); err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	for _, path := range slices.Concat(o.CRDs, o.CRDOlds, o.Olds, o.policy.paths) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && path != "-" && !o.partial() { // a partial run reports it to merge
			return fmt.Errorf("%s: no such file or directory", path)
		}
	}
	if err := o.checkPolicy(); err != nil {
		return err
	}
	var err error
	if o.adjust, err = o.adjustment(); err != nil {
		return err
	}
	if o.Plugins == nil {
		o.Plugins = builtin.Plugins(true)
	}
	if err := builtins.CheckPlugins(o.Plugins); err != nil {
		return fmt.Errorf("--admission-plugins %w", err)
	}
	if err := o.selection().Check(); err != nil {
		return fmt.Errorf("--exclude %w", err)
	}
	if err := o.Cluster.Check(); err != nil {
		return err
	}
	if o.selector, err = parseSelector(o.FieldSelector); err != nil {
		return err
	}
	if o.Now != "" {
		if o.now, err = time.Parse(time.RFC3339, o.Now); err != nil {
			return fmt.Errorf("--now %q: want a time such as 2026-01-31T12:00:00Z", o.Now)
		}
	}
	o.validation = map[string]string{"strict": "Strict", "true": "Strict", "warn": "Warn", "ignore": "Ignore", "false": "Ignore"}[o.Validate]
	if o.validation == "" {
		return fmt.Errorf("--validate %q: want strict, warn, or ignore", o.Validate)
	}
	return o.checkParts()
}

// among reports whether the CRDs are searched among the objects.
func (o *Options) among() bool {
	return len(o.CRDs) == 0 && !o.Cluster.On && len(o.CRDOlds) == 0
}

// crdPaths leaves out standard input if the CRDs are among the objects, because it can be read only once.
func (o *Options) crdPaths(paths []string) []string {
	if !o.among() {
		return o.CRDs
	}
	return input.WithoutStdin(paths)
}

func (o *Options) upgrades() bool { return len(o.CRDOlds) > 0 || o.Cluster.On && len(o.CRDs) > 0 }

func (o *Options) upgrade() string {
	if o.Cluster.On {
		return "--cluster --crd"
	}
	return "--crd-old"
}

func (o *Options) selection() input.Selection { return input.Selection{Exclude: o.Exclude} }

func (o *Options) explains() bool {
	switch o.Output {
	case "json", "jsonl":
		return o.Verbose || o.Reports.Any() || o.partial() && o.Output == "jsonl"
	case "text":
		return o.locates()
	}
	return true
}

func (o *Options) locates() bool { return o.Output != "text" || !o.Quiet || o.Reports.Any() }

func parseSelector(text string) (fields.Selector, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := fields.ParseSelector(text)
	if err == nil && selector.Empty() {
		err = errors.New("want FIELD=VALUE or FIELD!=VALUE, separated by commas")
	}
	if err != nil {
		return nil, fmt.Errorf("--field-selector %q: %w", text, err)
	}
	return selector, nil
}

type policyOptions struct {
	paths     []string
	as        string
	asGroups  []string
	asExtra   []string
	operation string
}

func (o *policyOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.paths, "policy", nil, "evaluate the admission policies in `PATH`, with the bindings, params, Namespaces, and RBAC objects there: a file, a folder, or - (repeatable; see docs/policies.md)")
	f.StringVar(&o.as, "as", "", "with --policy: `USER` who sends the requests (default: kubernetes-admin, as in a new cluster)")
	f.StringArrayVar(&o.asGroups, "as-group", nil, "with --as: `GROUP` of the user (repeatable)")
	f.StringArrayVar(&o.asExtra, "as-user-extra", nil, "with --as: `KEY=VALUE` of the user's extra fields (repeatable)")
	f.StringVar(&o.operation, "operation", "", "with --policy: create, update, delete, deletecollection, or connect (default: connect to a subresource such as exec by its objects, update objects with an old version, and create the others)")
}

func (o *Options) checkPolicy() error {
	p := &o.policy
	switch {
	case len(p.paths) == 0 && (p.as != "" || len(p.asGroups)+len(p.asExtra) > 0 || p.operation != ""):
		return errors.New("--as, --as-group, --as-user-extra, and --operation describe requests to policies: use them with --policy PATH")
	case p.as == "" && len(p.asGroups)+len(p.asExtra) > 0:
		return errors.New("--as-group and --as-user-extra have no effect without a user: use --as USER, too")
	case slices.ContainsFunc(p.asExtra, func(text string) bool { return !strings.Contains(text, "=") }):
		return fmt.Errorf("--as-user-extra: got %s, want KEY=VALUE", strings.Join(p.asExtra, " "))
	case p.operation != "" && !slices.Contains(verdict.Operations, p.operation):
		return fmt.Errorf("--operation %q: want %s", p.operation, phrase.Or(verdict.Operations))
	case p.operation == verdict.Create && (len(o.Olds) > 0 || o.Base != ""):
		return errors.New("--operation create: a create has no old object: do not set --old or --base")
	case p.operation != "" && p.operation != verdict.Update && slices.Contains(policyrequest.Updated, o.Subresource):
		return fmt.Errorf("--operation %s: a subresource can only be updated: do not set --subresource", p.operation)
	case len(p.paths) > 0 && o.upgrades():
		return fmt.Errorf("--policy: an upgrade check compares CRDs: do not set %s", o.upgrade())
	}
	return nil
}

// admission returns nil without --policy. The CRDs define the scope of params.
func (r *runner) admission(
	ctx context.Context, o *Options, crds *verdict.CRDs,
) (_ *verdict.Admission, problems []error, err error) {
	if len(o.policy.paths) == 0 {
		return nil, nil, nil
	}
	cfg := policy.Config{KubeVersion: o.KubeVersion, Namespaced: crds.Namespaced()}
	p, err := policies.Read(ctx, r.Stdin, o.policy.paths, o.selection(), cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("--policy: %w", err)
	}
	version, err := types.ParseVersion(o.KubeVersion)
	if err != nil {
		return nil, nil, fmt.Errorf("--kube-version: %w", err)
	}
	for _, note := range slices.Concat(p.Unserved(builtins.Server{}, version.Minor), p.Misspelled(builtins.Nearest), p.Unbound) {
		r.Complain(note)
	}
	if len(p.Problems) == 0 && len(p.Unbound) == len(p.Set.Policies()) && p.Set.Webhooks() == 0 {
		return nil, nil, fmt.Errorf("--policy: no policy in %s has an effect", strings.Join(o.policy.paths, ", "))
	}
	user := policyrequest.User(o.policy.as, o.policy.asGroups)
	for _, text := range o.policy.asExtra {
		if user.Extra == nil {
			user.Extra = map[string][]string{}
		}
		key, value, _ := strings.Cut(text, "=")
		user.Extra[key] = append(user.Extra[key], value)
	}
	return &verdict.Admission{Policies: p, User: user, Operation: o.policy.operation}, p.Problems, nil
}
