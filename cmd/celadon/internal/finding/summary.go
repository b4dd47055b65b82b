package finding

import (
	"cmp"
	"slices"
)

// Summary counts the objects of a run.
type Summary struct {
	Checked int `json:"checked"`
	Valid   int `json:"valid"`
	Invalid int `json:"invalid"`
	Skipped int `json:"skipped"`
	// SkippedKinds counts skipped objects by kind and group. It has a limited number of kinds.
	SkippedKinds map[string]int `json:"skippedKinds,omitempty"`
	Unreadable   int            `json:"unreadable"`
	Undecided    int            `json:"undecided,omitempty"`
	// Ignored counts documents that are not validated, such as CRDs among the objects.
	Ignored int `json:"ignored,omitempty"`
	// Unevaluated counts documents that could be evaluated as more than objects.
	Unevaluated map[Unevaluated]int `json:"unevaluated,omitempty"`
	// StructureOnly counts the objects of built-in kinds for which only the structure and the policies are checked.
	StructureOnly int `json:"structureOnly,omitempty"`
	// Vanished counts old objects without a new version.
	Vanished int `json:"vanished,omitempty"`
	// Old counts the objects of --old, if that is given.
	Old *OldSummary `json:"old,omitempty"`
	// Omitted counts findings that the report leaves out.
	Omitted int `json:"omitted,omitempty"`
	// Uncompiled counts objects that are rejected only because rules of their CRD do not compile.
	Uncompiled int `json:"-"`
	// Interrupted is set if the run stopped before the end of the input.
	Interrupted bool `json:"interrupted,omitempty"`
	// Missing lists the parts that a merged report lacks.
	Missing []string `json:"missing,omitempty"`
	// Baseline is nil unless a baseline was given.
	Baseline *BaselineSummary `json:"baseline,omitempty"`
	// CRDs counts the CRDs of the objects, if the CRDs are vetted.
	CRDs *CRDSummary `json:"crds,omitempty"`
	// Upgrade counts the effects of another CRD on the objects.
	Upgrade *UpgradeSummary `json:"upgrade,omitempty"`
	// Kinds and Rules are tables, filled on request.
	Kinds []KindRow `json:"kinds,omitempty"`
	Rules []RuleRow `json:"rules,omitempty"`

	// End holds data for merging reports.
	End *PartEnd `json:"-"`
}

// Unevaluated is the kind of a document that another flag or command would evaluate.
type Unevaluated string

// The kinds of documents that are not evaluated: policies without --policy, and test suites.
const (
	UnevaluatedPolicy Unevaluated = "policies"
	UnevaluatedSuite  Unevaluated = "suites"
)

// AddUnevaluated counts a document. An empty kind is not counted.
func (s *Summary) AddUnevaluated(kind Unevaluated) {
	if s.Unevaluated == nil {
		s.Unevaluated = map[Unevaluated]int{}
	}
	if kind != "" {
		s.Unevaluated[kind]++
	}
}

// OldSummary counts the objects of --old.
type OldSummary struct {
	// Given counts all of them, and Matched those with a new version.
	Given   int `json:"given"`
	Matched int `json:"matched"`
}

// BaselineSummary holds the counts of a run with a baseline.
type BaselineSummary struct {
	// Known counts objects and CRDs whose errors are all in the baseline. Stale counts entries whose findings
	// occurred less often than their count.
	Known int `json:"known"`
	Stale int `json:"stale"`
}

// Finding reports whether the object is a finding.
func (o *Object) Finding(strictKinds bool) bool { return !o.Known && o.Wrong(strictKinds) }

// Wrong reports whether the object is a finding unless it is in the baseline.
func (o *Object) Wrong(strictKinds bool) bool {
	return o.Verdict == Invalid || strictKinds && o.WithoutCRD() || o.Upgrade != nil && o.Upgrade.Finding()
}

// WithoutCRD reports whether the object is skipped although only a CRD can define its kind. Such an
// object is a finding on request.
func (o *Object) WithoutCRD() bool {
	return o.Verdict == Skipped && !o.Encrypted && !builtinGroups[o.GroupKind().Group]
}

// builtinGroups are the groups of the kinds that a server defines without a CRD.
var builtinGroups = map[string]bool{
	"": true, "admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true, "apps": true,
	"authentication.k8s.io": true, "authorization.k8s.io": true, "autoscaling": true, "batch": true, "certificates.k8s.io": true,
	"coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true, "extensions": true, "flowcontrol.apiserver.k8s.io": true,
	"internal.apiserver.k8s.io": true, "networking.k8s.io": true, "node.k8s.io": true, "policy": true, "rbac.authorization.k8s.io": true,
	"resource.k8s.io": true, "scheduling.k8s.io": true, "storage.k8s.io": true, "storagemigration.k8s.io": true,
}

const maxSkippedKinds = 100

func (s *Summary) skip(o *Object) {
	s.Skipped++
	kind := o.GroupKind().String()
	if o.Encrypted {
		kind += " encrypted with SOPS"
	}
	if s.SkippedKinds == nil {
		s.SkippedKinds = map[string]int{}
	}
	if _, ok := s.SkippedKinds[kind]; ok || len(s.SkippedKinds) < maxSkippedKinds {
		s.SkippedKinds[kind]++
	}
}

// Count adds an object to the counts.
func (s *Summary) Count(o *Object) {
	s.known(o.Known)
	s.AddUnevaluated(o.Unevaluated)
	if o.StructureOnly {
		s.StructureOnly++
	}
	if o.Uncompiled {
		s.Uncompiled++
	}
	switch o.Verdict {
	case Valid:
		s.Checked++
		s.Valid++
	case Invalid:
		s.Checked++
		s.Invalid++
	case Skipped:
		s.skip(o)
	case Unreadable:
		s.Unreadable++
	case Undecided:
		s.Undecided++
	case Ignored:
		s.Ignored++
	}
	if o.Upgrade != nil {
		if s.Upgrade == nil {
			s.Upgrade = &UpgradeSummary{}
		}
		s.Upgrade.Add(o.Upgrade)
	}
}

func (s *Summary) known(known bool) {
	if !known {
		return
	}
	if s.Baseline == nil {
		s.Baseline = &BaselineSummary{}
	}
	s.Baseline.Known++
}

// Lines returns the number of documents and CRDs that s counts.
func (s *Summary) Lines() int {
	n := s.Checked + s.Skipped + s.Unreadable + s.Undecided + s.Ignored
	if s.CRDs != nil {
		n += s.CRDs.Accepted + s.CRDs.Rejected + s.CRDs.Undecided
	}
	return n
}

// CountCRD adds a CRD to the counts.
func (s *Summary) CountCRD(c *CRD) {
	s.known(c.Known)
	if s.CRDs == nil {
		s.CRDs = &CRDSummary{}
	}
	switch {
	case c.Bug != nil:
	case c.Undecided:
		s.CRDs.Undecided++
	case c.Accepted:
		s.CRDs.Accepted++
	default:
		s.CRDs.Rejected++
	}
}

// Upgrade is the effect of a new CRD on an object stored under the old CRD.
type Upgrade struct {
	// Before and Now are the verdicts on creating the object under the old and the new CRD: valid,
	// invalid, or undecided.
	Before string `json:"before"`
	Now    string `json:"now"`
	// Unchanged is the new CRD's verdict on an update without changes.
	Unchanged string `json:"unchanged"`
	// Ratcheted is set if that update is accepted only because of ratcheting.
	Ratcheted bool `json:"ratcheted,omitempty"`
	// Changes are silent changes by pruning and defaulting.
	Changes []Change `json:"changes,omitempty"`
}

// Change is a changed field. An empty Before or After means that the field is absent.
type Change struct {
	Field  string `json:"field"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// RejectedOnCreate reports whether the object was accepted before and is rejected now.
func (u *Upgrade) RejectedOnCreate() bool { return u.Before == Valid && u.Now == Invalid }

// RejectedOnUpdate reports whether an update without changes is rejected.
func (u *Upgrade) RejectedOnUpdate() bool { return u.Unchanged == Invalid }

// Undecided reports whether any of the verdicts is undecided.
func (u *Upgrade) Undecided() bool {
	return u.Before == Undecided || u.Now == Undecided || u.Unchanged == Undecided
}

// Lossy reports whether a field is removed or gets another value.
func (u *Upgrade) Lossy() bool {
	return slices.ContainsFunc(u.Changes, func(c Change) bool { return c.Before != "" })
}

// Finding reports whether the upgrade breaks the object, or removes or changes a field of it.
func (u *Upgrade) Finding() bool { return u.RejectedOnCreate() || u.RejectedOnUpdate() || u.Lossy() }

// UpgradeSummary counts the effects of an upgrade.
type UpgradeSummary struct {
	RejectedOnCreate int `json:"refusedOnCreate"`
	RejectedOnUpdate int `json:"refusedOnUpdate"`
	Ratcheted        int `json:"ratcheted"`
	Changed          int `json:"changed"`
	Undecided        int `json:"undecided,omitempty"`
}

// Add adds an object to the counts.
func (s *UpgradeSummary) Add(u *Upgrade) {
	for n, is := range map[*int]bool{
		&s.RejectedOnCreate: u.RejectedOnCreate(), &s.RejectedOnUpdate: u.RejectedOnUpdate(), &s.Ratcheted: u.Ratcheted,
		&s.Changed: len(u.Changes) > 0, &s.Undecided: u.Undecided(),
	} {
		if is {
			*n++
		}
	}
}

// KindRow holds the counts of a kind.
type KindRow struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Checked    int    `json:"checked"`
	Invalid    int    `json:"invalid"`
	Undecided  int    `json:"undecided,omitempty"`
	Cost       int64  `json:"cost"`
}

// RuleRow holds the counts of a rule.
type RuleRow struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`
	Index  int    `json:"index"`
	Rule   string `json:"rule"`
	Runs   int    `json:"runs"`
	Failed int    `json:"failed"`
	Cost   int64  `json:"cost"`
	// CostShare is the rule's share of the total cost, from 0 to 1.
	CostShare float64 `json:"costShare"`
}

// Tables sums the results of objects by kind and by rule.
type Tables struct {
	kinds map[[2]string]*KindRow
	rules map[PartRule]*PartRule // the keys have no counts
	cost  int64
}

// NewTables returns empty Tables.
func NewTables() *Tables {
	return &Tables{kinds: map[[2]string]*KindRow{}, rules: map[PartRule]*PartRule{}}
}

// Add adds an object that was validated or is undecided, and ignores others.
func (t *Tables) Add(o *Object) {
	add := KindRow{APIVersion: o.APIVersion, Kind: o.Kind, Checked: 1, Cost: o.Cost}
	switch o.Verdict {
	case Valid:
	case Invalid:
		add.Invalid = 1
	case Undecided:
		t.kind(KindRow{APIVersion: o.APIVersion, Kind: o.Kind, Undecided: 1})
		return
	default:
		return
	}
	t.kind(add)
	for _, r := range o.Rules {
		t.rule(PartRule{RuleRow{Kind: o.Kind, Path: r.Path, Index: r.Index, Rule: r.Rule, Runs: r.Runs, Failed: r.Failed, Cost: r.Cost}, o.APIVersion, r.Version})
	}
}

func (t *Tables) kind(add KindRow) {
	t.cost += add.Cost
	key := [2]string{add.APIVersion, add.Kind}
	row := t.kinds[key]
	if row == nil {
		t.kinds[key] = &add
		return
	}
	row.Checked += add.Checked
	row.Invalid += add.Invalid
	row.Undecided += add.Undecided
	row.Cost += add.Cost
}

func (t *Tables) rule(add PartRule) {
	key := add
	key.Runs, key.Failed, key.Cost, key.CostShare = 0, 0, 0, 0
	row := t.rules[key]
	if row == nil {
		t.rules[key] = &add
		return
	}
	row.Runs += add.Runs
	row.Failed += add.Failed
	row.Cost += add.Cost
}

// AddPart adds the tables of a partial report.
func (t *Tables) AddPart(kinds []KindRow, rules []PartRule) {
	for _, add := range kinds {
		t.kind(add)
	}
	for _, add := range rules {
		t.rule(add)
	}
}

// Fill copies the tables into a summary, with most invalid objects and most failures first.
func (t *Tables) Fill(s *Summary) {
	for _, row := range t.kinds {
		s.Kinds = append(s.Kinds, *row)
	}
	slices.SortFunc(s.Kinds, func(a, b KindRow) int {
		return cmp.Or(cmp.Compare(b.Invalid, a.Invalid), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	var rules []PartRule
	for _, row := range t.rules {
		if t.cost > 0 {
			row.CostShare = float64(row.Cost) / float64(t.cost)
		}
		rules = append(rules, *row)
	}
	slices.SortFunc(rules, func(a, b PartRule) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Cost, a.Cost), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Rule, b.Rule), cmp.Compare(b.Runs, a.Runs),
			cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Version, b.Version))
	})
	for _, row := range rules {
		s.Rules = append(s.Rules, row.RuleRow)
	}
	if s.End != nil {
		s.End.Rules = rules
	}
}
