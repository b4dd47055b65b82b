// Package find implements celadon find, which looks for objects that demonstrate the effect of CRD
// rules, and for requests that demonstrate the effect of admission policies.
package find

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Wants and Outputs are the valid values of --want and --output.
var (
	Wants   = []string{"refused", "accepted", "error", "budget", "all"}
	Outputs = []string{"text", "json", "yaml"}
)

// Options are the flags of celadon find.
type Options struct {
	// Server, if not nil, validates objects of built-in kinds. Nearest, if not nil, corrects the names of their
	// resources.
	Server        policyrequest.Server
	Nearest       func(group, resource string) string
	CRDs          []string
	Policies      []string
	OldPolicies   []string
	Version       string
	At            string
	Rule          int
	Want          string
	Full, Minimal bool
	Steps         int
	Seed          uint64
	KubeVersion   string
	Output        string
	Config        config.Flags

	at, one bool // --at and --rule were given
}

// Flags adds the flags to a set.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.CRDs, "crd", nil, "read CRDs from `PATH`: a file, a folder, or - (repeatable)")
	f.StringArrayVar(&o.Policies, "policy", nil, "search for requests that the admission policies in `PATH` deny, instead of rules: a file, a folder, or - (repeatable)")
	f.StringArrayVar(&o.OldPolicies, "old-policy", nil, "with --policy: search for requests that one side denies and the policies in `PATH` accept, or the reverse (repeatable)")
	f.StringVar(&o.Version, "version", "", "search only the version `NAME` of the CRDs (default: all)")
	f.StringVar(&o.At, "at", "", "search only rules at the schema path `PATH`, such as spec.hosts[*]; \"\" is the root (default: all)")
	f.IntVar(&o.Rule, "rule", 0, "with --at: search only the rule with this index, counted from 0")
	f.StringVar(&o.Want, "want", "refused", "wanted outcome: "+strings.Join(Wants, ", "))
	f.BoolVar(&o.Full, "full", false, "write a sample instead: an accepted object with as many fields as possible")
	f.BoolVar(&o.Minimal, "minimal", false, "write a sample instead: an accepted object with as few fields as possible")
	f.IntVar(&o.Steps, "steps", search.DefaultSteps, "number of objects to try for each rule")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the search")
	f.StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes `X.Y` to emulate (default: the newest supported)")
	f.StringVarP(&o.Output, "output", "o", "text", "report format: "+phrase.Or(Outputs))
	o.Config.Add(f)
	config.FromTree.Set(f, "crd", "output")
	config.Stricter.Set(f, "kube-version")
	config.Never.Set(f, "at", "rule")
}

// Check returns an error if the flags are invalid, and completes the options. f is the set that parsed them.
func (o *Options) Check(f *pflag.FlagSet) error {
	o.at, o.one = f.Changed("at"), f.Changed("rule")
	switch {
	case len(o.CRDs) == 0 && len(o.Policies) == 0:
		return fmt.Errorf("no CRDs given: want files or folders")
	case len(o.Policies) > 0 && (o.at || o.Full || o.Minimal):
		return fmt.Errorf("--policy searches for requests to policies: do not set --at, --full, or --minimal")
	case len(o.OldPolicies) > 0 && len(o.Policies) == 0:
		return fmt.Errorf("--old-policy compares policies: use --policy PATH for the new ones, too")
	case len(o.OldPolicies) > 0 && f.Changed("want"):
		return fmt.Errorf("--old-policy searches for differences: do not set --want")
	case len(o.Policies) > 0 && !slices.Contains([]string{"refused", "error", "all"}, o.Want):
		return fmt.Errorf("--want %q: with --policy, want refused, error, or all", o.Want)
	case !slices.Contains(Wants, o.Want):
		return fmt.Errorf("--want %q: want %s", o.Want, phrase.Or(Wants))
	case !slices.Contains(Outputs, o.Output):
		return fmt.Errorf("--output %q: want %s", o.Output, phrase.Or(Outputs))
	case o.one && !o.at:
		return fmt.Errorf("--rule %d: use it with --at PATH, because rules are numbered per path", o.Rule)
	case o.Rule < 0:
		return fmt.Errorf("--rule %d: want 0 or more", o.Rule)
	case o.Steps <= 0:
		return fmt.Errorf("--steps %d: want 1 or more", o.Steps)
	case o.Full && o.Minimal:
		return fmt.Errorf("--full and --minimal both given: want only one of them")
	case (o.Full || o.Minimal) && (o.at || f.Changed("want") && o.Want != "accepted"):
		return fmt.Errorf("--full and --minimal write a sample of a whole CRD: do not set --at, or a --want other than accepted")
	}
	if _, err := types.ParseVersion(o.KubeVersion); err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	if !o.at {
		return nil
	}
	steps, err := engine.ParsePath(o.At)
	if err != nil {
		return fmt.Errorf("--at %w", err)
	}
	for i := range steps { // spec.hosts[2] selects the rules for all items
		if steps[i].Item {
			steps[i] = engine.Step{Any: true}
		}
	}
	o.At = engine.FormatPath(steps)
	return nil
}

func (o *Options) wants() []search.Want {
	if o.Want == "all" {
		return []search.Want{search.Rejected, search.Accepted, search.Errs, search.OverBudget}
	}
	return []search.Want{search.Want(o.Want)}
}

// questions returns the number of questions about a rule, weighted for the work budget.
func (o *Options) questions() (n int) {
	for _, want := range o.wants() {
		if n++; want == search.Errs || want == search.OverBudget {
			n += work.RareQuestion - 1
		}
	}
	return n
}

func (o *Options) selects(r engine.RuleRef) bool {
	return !o.samples() && (!o.at || r.Path == o.At && (!o.one || r.Index == o.Rule))
}

func (o *Options) samples() bool { return o.Full || o.Minimal }

func (o *Options) whole() bool { return o.Want == "all" && !o.at }

type selectable struct {
	versions []string
	rules    []engine.RuleRef
}

// nothing returns an error that explains why the options select nothing.
func (o *Options) nothing(k *selectable) error {
	if o.Version != "" && !slices.Contains(k.versions, o.Version) {
		return fmt.Errorf("--version %q: no such version%s", o.Version, offer(o.Version, k.versions))
	}
	if len(k.rules) == 0 && o.Version != "" {
		return fmt.Errorf("--version %q: it has no rules: use --minimal or --full for a sample", o.Version)
	}
	if len(k.rules) == 0 {
		return errors.New("no CRD has rules: use --minimal or --full for a sample")
	}
	var paths []string
	there := 0
	for _, r := range k.rules {
		paths = append(paths, r.Path)
		if r.Path == o.At {
			there = max(there, r.Index+1)
		}
	}
	if there > 0 {
		return fmt.Errorf("--rule %d: no such rule: want less than %d (%s at %s)", o.Rule, there, phrase.Count(there, "rule"), phrase.Path(o.At))
	}
	return fmt.Errorf("--at %q: no rule at this path%s", o.At, offer(o.At, paths))
}

func offer(word string, names []string) string {
	return string(untrusted.Line(spell.SuggestOrList(word, names)))
}
