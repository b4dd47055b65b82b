package finding

import (
	"cmp"
	"slices"

	"github.com/celadon-cel/celadon/engine"
)

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
	rules map[ruleKey]*PartRule
	cost  int64
}

type ruleKey struct {
	apiVersion, kind string
	engine.RuleRef
}

// NewTables returns empty Tables.
func NewTables() *Tables {
	return &Tables{kinds: map[[2]string]*KindRow{}, rules: map[ruleKey]*PartRule{}}
}

// Add adds an object that was validated or is undecided.
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
	key := ruleKey{add.APIVersion, add.Kind, engine.RuleRef{Version: add.Version, Path: add.Path, Index: add.Index, Rule: add.Rule}}
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

// Fill copies the tables into a summary, rules with most failures first.
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
