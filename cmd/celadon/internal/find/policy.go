package find

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/requests"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// PolicyPart holds the results for a validation of a policy.
type PolicyPart struct {
	Policy     string         `json:"policy"`
	Validation int            `json:"validation"`
	Expression string         `json:"expression"`
	File       string         `json:"file,omitempty"`
	Line       int            `json:"line,omitempty"`
	Denied     *PolicyFinding `json:"denied,omitempty"`
	Error      *PolicyFinding `json:"error,omitempty"`
	// Stricter is about a request that only the new policies deny, and Looser about a request that only the old
	// policies deny.
	Stricter *PolicyFinding `json:"stricter,omitempty"`
	Looser   *PolicyFinding `json:"looser,omitempty"`
}

// PolicyFinding is the result of a question about a policy.
type PolicyFinding struct {
	// Status is found, never, or unknown.
	Status    search.StatusWord `json:"status"`
	Operation string            `json:"operation,omitempty"`
	// Subresource is the subresource of the request, or "".
	Subresource string   `json:"subresource,omitempty"`
	User        string   `json:"user,omitempty"`
	Groups      []string `json:"groups,omitempty"`
	// Extra holds the extra fields of the user.
	Extra     map[string][]string `json:"extra,omitempty"`
	Namespace string              `json:"namespace,omitempty"`
	Object    map[string]any      `json:"object,omitempty"`
	Old       map[string]any      `json:"old,omitempty"`
	Binding   string              `json:"binding,omitempty"`
	Actions   []policy.Action     `json:"actions,omitempty"`
	Message   string              `json:"message,omitempty"`
	Searched  int                 `json:"searched"`
	// Reason is why the search ended early, or why the verdict on a request is unknown.
	Reason string `json:"reason,omitempty"`
	// Assumed replaces Report.Assumed for this result.
	Assumed []map[string]any `json:"assumed,omitempty"`
}

// PolicySummary counts validations and mutations by result.
type PolicySummary struct {
	Validations int `json:"validations"`
	Stricter    int `json:"stricter,omitempty"`
	Looser      int `json:"looser,omitempty"`
	Mutations   int `json:"mutations,omitempty"`
	Changed     int `json:"changed,omitempty"`
	Invalid     int `json:"invalid,omitempty"`
	Denied      int `json:"denied"`
	// Reported counts the part of Denied for which requests are accepted with a warning or an audit annotation.
	Reported int `json:"reported,omitempty"`
	Errors   int `json:"errors"`
	Unknown  int `json:"unknown"`
	// Unmatched lists policies that match no resource of the CRDs. Unknown includes them.
	Unmatched []string `json:"unmatched,omitempty"`
}

// bothPolicies holds the policies, and those that they replace, which are nil without --old-policy.
type bothPolicies struct {
	*policies.Policies
	old  *policies.Policies
	crds int // the number of CRDs that share the work budget of the run
	// set and documents are the policies with examples of the objects that they lack, which are assumed.
	set       *policy.Set
	documents []map[string]any
	assumed   []map[string]any
	// denying is like it, with other examples, for denials that are not found. It can be nil.
	denying *bothPolicies
}

func readPolicies(ctx context.Context, s command.Streams, o *Options) (both *bothPolicies, broken bool, err error) {
	if len(o.Policies) == 0 {
		return nil, false, nil
	}
	p, broken, err := readSide(ctx, s, o, "--policy", o.Policies)
	if err != nil || len(o.OldPolicies) == 0 {
		return &bothPolicies{Policies: p}, broken, err
	}
	old, oldBroken, err := readSide(ctx, s, o, "--old-policy", o.OldPolicies)
	return &bothPolicies{Policies: p, old: old}, broken || oldBroken, err
}

func readSide(ctx context.Context, s command.Streams, o *Options, flag string, paths []string) (p *policies.Policies, broken bool, err error) {
	p, err = policies.Read(ctx, s.Stdin, paths, input.Selection{}, policy.Config{KubeVersion: o.KubeVersion})
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", flag, err)
	}
	for _, problem := range slices.Concat(p.Problems, p.Misspelled(o.Nearest), p.Unbound) {
		s.Complain(problem)
	}
	if len(p.Problems) == 0 && len(p.Unbound) == len(p.Set.Policies()) {
		return nil, false, fmt.Errorf("%s: no policy in %s has an effect", flag, strings.Join(paths, ", "))
	}
	return p, len(p.Problems) > 0, nil
}

func (v *versionSearch) runPolicies(both *bothPolicies) (*VersionPart, error) {
	p := both.Policies
	f, err := v.finder(both.set, both.documents)
	if err != nil {
		return nil, err
	}
	part := &VersionPart{Name: v.name, Rules: []*RulePart{}}
	if both.old != nil {
		return part, v.comparePolicies(both, f, part)
	}
	if err := v.mutations(p, f, part); err != nil {
		return part, err
	}
	for _, validation := range f.Validations() {
		one := newPolicyPart(p, validation)
		for _, want := range v.o.policyWants([]requests.Want{requests.Denied}) {
			answer, err := f.Find(v.ctx, validation, want)
			if err != nil {
				return part, err
			}
			found := policyFinding(answer)
			if want == requests.Denied && found.unknown() && both.denying != nil {
				if found, err = v.deniedWith(both.denying, validation, found); err != nil {
					return part, err
				}
			}
			if want == requests.Fails && found.Status == search.Unknown {
				never, err := f.NeverFails(validation)
				if err != nil {
					return part, err
				}
				if never {
					found.Status = analysis.Never
				}
			}
			one.set(want, found)
			v.step()
		}
		part.Policies = append(part.Policies, one)
	}
	if len(part.Policies)+len(part.Mutations) == 0 {
		return nil, nil
	}
	return part, nil
}

// deniedWith searches with other examples, and returns otherwise without a result.
func (v *versionSearch) deniedWith(p *bothPolicies, validation requests.Validation, otherwise *PolicyFinding) (*PolicyFinding, error) {
	f, err := v.finder(p.set, p.documents)
	if err != nil {
		return nil, err
	}
	answer, err := f.Find(v.ctx, validation, requests.Denied)
	if err != nil || answer.Request == nil {
		return otherwise, err
	}
	found := policyFinding(answer)
	found.Assumed = p.assumed
	return found, nil
}

func newPolicyPart(p *policies.Policies, v requests.Validation) *PolicyPart {
	at := p.Validation(v.Policy, v.Index, "")
	return &PolicyPart{Policy: v.Policy, Validation: v.Index, Expression: v.Expression, File: at.File, Line: at.Line}
}

func (v *versionSearch) finder(set *policy.Set, documents []map[string]any) (*requests.Finder, error) {
	return requests.New(v.ctx, v.crd, v.engine, v.name, requests.Config{
		Set: set, Documents: documents, User: policyrequest.User("", nil), Steps: v.o.Steps, Seed: v.o.Seed, Work: v.work, Builtin: v.builtins[v.name], Subresource: v.subresource, Now: time.Now(),
	})
}

// comparePolicies adds a result for each validation that matches the version: for a new validation, a request that
// it denies and the old policies accept, and for an old validation, the reverse.
func (v *versionSearch) comparePolicies(both *bothPolicies, f *requests.Finder, part *VersionPart) error {
	if reflect.DeepEqual(both.Documents(), both.old.Documents()) {
		return nil
	}
	old, err := v.finder(both.old.Set, both.old.Documents())
	if err != nil {
		return err
	}
	for _, side := range []struct {
		in    *policies.Policies
		f     *requests.Finder
		other *requests.Finder
		set   func(*PolicyPart, *PolicyFinding)
	}{
		{both.Policies, f, old, func(p *PolicyPart, found *PolicyFinding) { p.Stricter = found }},
		{both.old, old, f, func(p *PolicyPart, found *PolicyFinding) { p.Looser = found }},
	} {
		for _, validation := range side.f.Validations() {
			found := &PolicyFinding{Status: analysis.Never}
			proved, err := side.f.DeniedByBoth(validation, side.other)
			if err != nil {
				return err
			}
			if !proved {
				answer, err := side.f.FindAgainst(v.ctx, validation, side.other)
				if err != nil {
					return err
				}
				found = policyFinding(answer)
			}
			one := newPolicyPart(side.in, validation)
			side.set(one, found)
			part.Policies = append(part.Policies, one)
			v.step()
		}
	}
	return nil
}

func (o *Options) policyWants(effects []requests.Want) (wants []requests.Want) {
	if o.Want != "error" {
		wants = effects
	}
	if o.Want != "refused" {
		wants = append(wants, requests.Fails)
	}
	return wants
}

func policyFinding(a *requests.Answer) *PolicyFinding {
	f := &PolicyFinding{Status: search.Unknown, Searched: a.Tried, Reason: a.Reason}
	if a.Reason == requests.FailsInstead {
		f.Reason += ": see --want error"
	}
	if r := a.Request; r != nil {
		*f = PolicyFinding{
			Status: search.Found, Operation: strings.ToLower(string(r.Operation)), Subresource: r.Subresource, User: r.User.Name, Groups: r.User.Groups, Extra: r.User.Extra, Namespace: r.Namespace,
			Object: withoutGeneration(r.Object), Old: withoutGeneration(r.OldObject), Binding: a.Binding, Actions: a.Actions, Message: a.Message, Searched: a.Tried,
		}
	}
	return f
}

// withoutGeneration returns an object without the generation, which the server sets.
func withoutGeneration(obj map[string]any) map[string]any {
	meta := input.Metadata(obj)
	if meta == nil {
		return obj
	}
	obj, meta = maps.Clone(obj), maps.Clone(meta)
	delete(meta, "generation")
	obj["metadata"] = meta
	return obj
}

func (p *PolicyPart) set(want requests.Want, f *PolicyFinding) {
	*map[requests.Want]**PolicyFinding{requests.Denied: &p.Denied, requests.Fails: &p.Error}[want] = f
}

func (s *Summary) policies() *PolicySummary {
	if s.Policies == nil {
		s.Policies = &PolicySummary{}
	}
	return s.Policies
}

func (s *Summary) countPolicy(p *PolicyPart) {
	n := s.policies()
	n.Validations++
	countFound(map[*int]*PolicyFinding{&n.Stricter: p.Stricter, &n.Looser: p.Looser, &n.Denied: p.Denied, &n.Errors: p.Error})
	if p.Denied.reported() {
		n.Reported++
	}
	if p.Denied.unknown() || p.Error.unknown() || p.Stricter.unknown() || p.Looser.unknown() {
		n.Unknown++
	}
}

func countFound(counts map[*int]*PolicyFinding) {
	for n, f := range counts {
		if f != nil && f.Status == search.Found {
			*n++
		}
	}
}

func (f *PolicyFinding) unknown() bool { return f != nil && f.Status == search.Unknown }

// undecided reports whether the verdict on some requests is unknown, or the search ended early. f may be nil.
func (f *PolicyFinding) undecided() bool { return f.unknown() && f.Reason != "" }

// addUnmatched adds the policies with bindings about which there are no results to the unknown results. It adds none
// if --old-policy has the same documents, because these have the same effect.
func (r *Report) addUnmatched(both *bothPolicies) {
	answered := map[string]bool{}
	for _, crd := range r.CRDs {
		for _, v := range crd.Versions {
			for _, p := range v.Policies {
				answered[p.Policy] = true
			}
			for _, m := range v.Mutations {
				answered[m.Policy] = true
			}
		}
	}
	for _, side := range []*policies.Policies{both.Policies, both.old} {
		if side == nil || both.old != nil && reflect.DeepEqual(both.Documents(), both.old.Documents()) {
			continue
		}
		for _, info := range side.Set.Policies() {
			if len(info.Bindings) > 0 && !answered[info.Name] {
				answered[info.Name] = true
				r.Summary.Policies.Unmatched = append(r.Summary.Policies.Unmatched, info.Name)
				r.Summary.Policies.Unknown++
			}
		}
	}
}
