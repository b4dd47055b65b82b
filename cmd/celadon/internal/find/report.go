package find

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/budget"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// Report is the report of celadon find. -o json writes it.
type Report struct {
	Kind       string     `json:"kind"`
	APIVersion string     `json:"apiVersion"`
	Seed       uint64     `json:"seed"`
	Summary    Summary    `json:"summary"`
	CRDs       []*CRDPart `json:"crds"`
	// Assumed holds examples of objects that policies need and that were not given. The policies are evaluated with
	// them.
	Assumed []map[string]any `json:"assumed,omitempty"`
}

// Summary counts rules by result.
type Summary struct {
	Rules int `json:"rules"`
	// Rejected counts rules that reject an object, Never those that never do.
	Rejected int `json:"refused"`
	Never    int `json:"never"`
	// Unknown counts rules and samples with an unanswered question.
	Unknown int `json:"unknown"`
	// Errors counts rules that fail to evaluate or are too expensive on an object.
	Errors int `json:"errors"`
	// Nothing counts versions that accept no object.
	Nothing int `json:"nothing,omitempty"`
	// Unserved counts rules of versions that are not served.
	Unserved   int `json:"unserved,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
	// Undecided counts the part of Unknown for which the work budget was too small.
	Undecided int `json:"undecided,omitempty"`
	// Interrupted is set if the run was interrupted.
	Interrupted bool `json:"interrupted,omitempty"`
	// Policies counts the validations and mutations of policies by result.
	Policies *PolicySummary `json:"policies,omitempty"`
}

// CRDPart holds the results for a CRD.
type CRDPart struct {
	File     string         `json:"file"`
	Name     string         `json:"name"`
	Versions []*VersionPart `json:"versions"`

	known selectable
}

// VersionPart holds the results for a version.
type VersionPart struct {
	Name     string      `json:"name"`
	Accepted *Finding    `json:"accepted,omitempty"`
	Rules    []*RulePart `json:"rules"`
	// Policies holds the results for the validations of policies.
	Policies []*PolicyPart `json:"policies,omitempty"`
	// Mutations holds the results for the mutations of policies.
	Mutations []*MutationPart `json:"mutations,omitempty"`
}

// RulePart holds the results for a rule.
type RulePart struct {
	Path     string   `json:"path"`
	Index    int      `json:"index"`
	Rule     string   `json:"rule"`
	Rejected *Finding `json:"refused,omitempty"`
	Accepted *Finding `json:"accepted,omitempty"`
	Error    *Finding `json:"error,omitempty"`
	Budget   *Finding `json:"budget,omitempty"`
}

// Finding is the result of a question.
type Finding struct {
	Status    search.StatusWord `json:"status"`
	Alone     *bool             `json:"alone,omitempty"`
	Operation search.Operation  `json:"operation,omitempty"`
	Object    map[string]any    `json:"object,omitempty"`
	Old       map[string]any    `json:"old,omitempty"`
	// Field and Message are from the cause.
	Field   string `json:"field,omitempty"`
	Message string `json:"message,omitempty"`
	Proof   string `json:"proof"`
	// ForbiddenPath is the path that, according to Proof, no accepted object has.
	ForbiddenPath string `json:"place,omitempty"`
	// Reason is the reason why nothing was found or analyzed.
	Reason   string `json:"reason,omitempty"`
	Searched int    `json:"searched"`
	// Lists is the length of the longest list in the objects that were tried.
	Lists int `json:"lists,omitempty"`
	// MadeUp lists paths of values with the format password.
	MadeUp []string `json:"madeUp,omitempty"`

	limited bool // the work budget is used up
	words   string
	assumed []map[string]any
}

// rule is nil for a sample.
func finding(want search.Want, rule *engine.RuleRef, a *analysis.Answer) *Finding {
	f := &Finding{
		Status: a.Status, Proof: a.ProofText(), ForbiddenPath: a.ForbiddenPath, Reason: a.Reason, Searched: a.Searched, Lists: a.Lists, MadeUp: a.MadeUp,
		limited: a.Limited, words: string(untrusted.Line(a.Words(want))),
	}
	w := a.Witness
	if w == nil {
		return f
	}
	f.Operation, f.Object, f.Old = w.Operation, w.Object, w.Old
	if want == search.Rejected {
		f.Alone = &w.Alone
	}
	for _, c := range w.Result.Causes {
		if want == search.OverBudget || rule != nil && c.Rule != nil && *c.Rule == *rule {
			f.Field, f.Message = c.Field, c.Message
			break
		}
	}
	return f
}

func (r *RulePart) set(want search.Want, f *Finding) {
	*map[search.Want]**Finding{search.Rejected: &r.Rejected, search.Accepted: &r.Accepted, search.Errs: &r.Error, search.OverBudget: &r.Budget}[want] = f
}

func (r *RulePart) answers() (all []answer) {
	for _, a := range []answer{{search.Rejected, r.Rejected}, {search.Accepted, r.Accepted}, {search.Errs, r.Error}, {search.OverBudget, r.Budget}} {
		if a.finding != nil {
			all = append(all, a)
		}
	}
	return all
}

type answer struct {
	want    search.Want
	finding *Finding
}

func (s *Summary) add(part *CRDPart) {
	for _, v := range part.Versions {
		for _, p := range v.Policies {
			s.countPolicy(p)
		}
		for _, m := range v.Mutations {
			s.countMutation(m)
		}
		nothing := v.Accepted.acceptsNothing()
		if v.Accepted != nil && v.Accepted.Status == search.Unknown {
			s.Unknown++
			if v.Accepted.limited {
				s.Undecided++
			}
		}
		for _, r := range v.Rules {
			s.count(r)
			nothing = nothing || r.Accepted.acceptsNothing()
		}
		if nothing {
			s.Nothing++
		}
	}
}

func (f *Finding) acceptsNothing() bool {
	return f != nil && f.Status == analysis.Never && f.ForbiddenPath == ""
}

func (s *Summary) count(r *RulePart) {
	s.Rules++
	unknown, unserved, failing, limited := false, false, false, false
	for _, a := range r.answers() {
		found := a.finding.Status == search.Found
		switch a.finding.Status {
		case search.Unknown, search.NotAnalyzed:
			unknown, limited = true, limited || a.finding.limited
		case search.Unserved:
			unserved = true
		}
		switch {
		case a.want == search.Rejected && found:
			s.Rejected++
		case a.want == search.Rejected && a.finding.Status == analysis.Never:
			s.Never++
		case found && a.want != search.Accepted:
			failing = true
		}
	}
	for n, is := range map[*int]bool{&s.Unknown: unknown, &s.Unserved: unserved, &s.Errors: failing, &s.Undecided: limited} {
		if is {
			*n++
		}
	}
}

func (s *Summary) settled() bool {
	p := s.Policies
	return s.Never == 0 && s.Nothing == 0 && s.Unknown == 0 && s.Errors == 0 && (p == nil || p.Errors == 0 && p.Unknown == 0 && p.Invalid == 0 && p.Stricter == 0)
}

// Ask runs celadon find for the rule of a CRD at o.At with the index o.Rule, in o.Version. o.Want must not be "all".
// Ask returns an error if an option is invalid, if the rule does not exist or compile, if ctx is done, or on an
// internal error.
func Ask(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, o Options) (*RulePart, error) {
	if !slices.Contains(Wants, o.Want) || o.Want == "all" {
		return nil, fmt.Errorf("want %q: use one of %v", o.Want, Wants[:len(Wants)-1])
	}
	if o.Steps <= 0 {
		return nil, fmt.Errorf("steps %d: want 1 or more", o.Steps)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		return nil, err
	}
	if !slices.Contains(e.Info().Versions, o.Version) {
		return nil, fmt.Errorf("version %q: the CRD has %v", o.Version, e.Info().Versions)
	}
	o.Seed, o.at, o.one = 1, true, true
	v := &versionSearch{
		ctx: ctx, o: &o, definition: &definition{crd: crd}, engine: e, name: o.Version, known: &selectable{}, step: func() {},
		costs: budget.Proofs(crd, "", cost.Limits{}),
	}
	part, err := v.run()
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case part == nil || len(part.Rules) == 0:
		return nil, fmt.Errorf("%s: x-kubernetes-validations[%d]: no such rule, or one that does not compile", o.At, o.Rule)
	}
	return part.Rules[0], nil
}

// Result returns the only result of a RulePart from Ask, as a phrase and in full.
func (r *RulePart) Result() (words string, f *Finding) {
	for _, a := range r.answers() {
		words, f = a.finding.words, a.finding
	}
	return words, f
}
