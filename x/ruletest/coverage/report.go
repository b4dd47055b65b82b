package coverage

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/celadon-cel/celadon/engine/policy"
)

// Report is the coverage of the rules of all watched CRDs and policies.
type Report struct {
	// Rules is the number of rules, Ran is how many of them ran, and Rejected is how many of them
	// rejected an object.
	Rules    int `json:"rules"`
	Ran      int `json:"ran"`
	Rejected int `json:"refused"`
	// Conditions is the number of conditions of all rules and expressions, and Both is how many of
	// them were both true and false.
	Conditions int `json:"conditions"`
	Both       int `json:"both"`
	// Policies counts the expressions of policies, whose conditions are counted above. It is nil
	// without policies.
	Policies *PolicyCounts `json:"policies,omitempty"`
	Items    []Item        `json:"items"`
}

// Item is the coverage of a rule, or of an expression of a policy.
type Item struct {
	// Policy is the name of the policy, and Part is policy.PartCondition, policy.PartVariable, or
	// policy.PartValidation. Name is the name of a matchCondition or variable. CRD and Version are
	// then "", and Path is the field, such as "spec.validations[0].expression".
	Policy string `json:"policy,omitempty"`
	Part   string `json:"part,omitempty"`
	Name   string `json:"name,omitempty"`
	isBool bool   // the expression was true or false

	CRD string `json:"crd"`
	// Version is the newest of the versions with equal schemas.
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Rule    string `json:"rule"`
	// Ran is how often the rule ran, for each value in each object. Rejected is how often it was
	// false and rejected the object. Errors is how often its evaluation failed or exceeded the work
	// limit. Ratcheted is how often it was false for a value that an update did not change. For an
	// expression of a policy, Passed is how often it was true or had a value that is not a bool, and
	// Rejected how often it was false.
	Ran       int `json:"ran"`
	Passed    int `json:"passed"`
	Rejected  int `json:"refused"`
	Errors    int `json:"errors"`
	Ratcheted int `json:"ratcheted,omitempty"`
	// Conditions are in the order of the source.
	Conditions []Condition `json:"conditions"`
	// Unmeasured is the reason why the rule's conditions were not measured, or "".
	Unmeasured string `json:"unmeasured,omitempty"`
}

// Condition is a part of a rule that is true or false: an operand of &&, ||, or !; the condition of
// ?: or a bool branch of it; or the predicate of a macro. Nested operators are split into their
// leaves.
type Condition struct {
	Text string `json:"text"`
	// Start and End delimit the condition in the rule, in code points.
	Start int `json:"start"`
	End   int `json:"end"`
	// True, False, and Errors are the number of evaluations with that result. In a macro, each
	// element counts.
	True   int `json:"true"`
	False  int `json:"false"`
	Errors int `json:"errors"`
}

// Report returns the coverage recorded so far.
func (r *Recorder) Report() *Report {
	r.replays.Lock()
	defer r.replays.Unlock()
	r.mu.Lock()
	rules, newest := slices.Clone(r.order), newestVersions(r.schemas)
	r.mu.Unlock()
	joined, order := map[key]*Item{}, []*Item{}
	for _, rule := range rules {
		one := rule.copied()
		one.Version = cmp.Or(newest[[2]string{one.CRD, one.Version}], one.Version)
		if known := joined[one.key()]; known != nil {
			known.join(one)
		} else {
			joined[one.key()] = one
			order = append(order, one)
		}
	}
	report := &Report{Items: make([]Item, 0, len(order))}
	for _, one := range order {
		report.add(*one)
	}
	slices.SortStableFunc(report.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(partOrder[a.Part], partOrder[b.Part]), cmp.Compare(a.CRD, b.CRD), cmp.Compare(a.Version, b.Version),
			comparePaths(&a, &b), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Rule, b.Rule))
	})
	return report
}

// The expressions of a list have the order of their indexes.
func comparePaths(a, b *Item) int {
	if a.Policy != "" {
		return 0
	}
	return cmp.Compare(a.Path, b.Path)
}

func (r *rule) copied() *Item {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.item
	one.Conditions = append([]Condition{}, one.Conditions...)
	return &one
}

func (r *Report) add(item Item) {
	if item.Policy != "" {
		if r.Policies == nil {
			r.Policies = &PolicyCounts{}
		}
		r.Policies.add(&item)
	} else {
		r.Rules++
		r.Ran += min(item.Ran, 1)
		r.Rejected += min(item.Rejected, 1)
	}
	for _, c := range item.Conditions {
		r.Conditions++
		if c.True > 0 && c.False > 0 {
			r.Both++
		}
	}
	r.Items = append(r.Items, item)
}

// Percent returns the percentage of rules that rejected an object, and of validations and matchConditions that were
// false. It returns 100 if the report has none of them.
func (r *Report) Percent() float64 {
	all, covered := r.Rules, r.Rejected
	if r.Policies != nil {
		all, covered = all+r.Policies.Expressions, covered+r.Policies.False
	}
	if all == 0 {
		return 100
	}
	return 100 * float64(covered) / float64(all)
}

// Gap is a missing test of a rule.
type Gap struct {
	// Start and End delimit the untested part of the rule, in code points.
	Start, End int
	// Text describes the gap, such as "`has(self.a)` never false".
	Text string
}

// Gaps returns the gaps of a rule, or nil if the rule is fully covered.
func (i *Item) Gaps() (gaps []Gap) {
	whole := func(text string) { gaps = append(gaps, Gap{0, len([]rune(i.Rule)), text}) }
	rejected, passed := "never rejected", "never passed"
	if i.Policy != "" {
		rejected, passed = "never false", "never true"
	}
	if i.Ran == 0 {
		whole("never ran")
		return gaps
	}
	hasOutcomes := i.Part != policy.PartVariable || i.isBool // other variables are never true or false
	if hasOutcomes && i.Rejected == 0 {
		whole(rejected)
	}
	if hasOutcomes && i.Passed == 0 {
		whole(passed)
	}
	for _, c := range i.Conditions {
		if text := c.missing(); text != "" {
			gaps = append(gaps, Gap{c.Start, c.End, "`" + c.Text + "` " + text})
		}
	}
	return gaps
}

func (c *Condition) missing() string {
	switch {
	case c.True == 0 && c.False == 0 && c.Errors == 0:
		return "never evaluated"
	case c.True == 0 && c.False == 0:
		return fmt.Sprintf("never true or false, an error %d times", c.Errors)
	case c.True == 0:
		return "never true"
	case c.False == 0:
		return "never false"
	}
	return ""
}

// versionSchema is the schema of a version of a CRD. A version has several if there are variants of the CRD.
type versionSchema struct {
	crd, version string
	schema       *apiextensionsv1.CustomResourceValidation
}

func newestVersions(schemas []versionSchema) map[[2]string]string {
	newest := map[[2]string]string{}
	for _, s := range schemas {
		for _, other := range schemas {
			at := [2]string{s.crd, s.version}
			if s.crd == other.crd && apiversion.CompareKubeAwareVersionStrings(other.version, cmp.Or(newest[at], s.version)) > 0 &&
				reflect.DeepEqual(s.schema, other.schema) {
				newest[at] = other.version
			}
		}
	}
	return newest
}

func (i *Item) join(other *Item) {
	i.Index = min(i.Index, other.Index)
	i.Ran += other.Ran
	i.Passed += other.Passed
	i.Rejected += other.Rejected
	i.Errors += other.Errors
	i.Ratcheted += other.Ratcheted
	i.isBool = i.isBool || other.isBool
	if len(i.Conditions) != len(other.Conditions) {
		return // i or other is not measured
	}
	for n := range i.Conditions {
		c, o := &i.Conditions[n], &other.Conditions[n]
		c.True += o.True
		c.False += o.False
		c.Errors += o.Errors
	}
}
