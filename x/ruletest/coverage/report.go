package coverage

import (
	"cmp"
	"fmt"
	"slices"
)

// Report is what tests ask of the rules of all CRDs watched, in an order that
// depends on nothing but the CRDs.
type Report struct {
	// Rules is how many there are, Ran how many of them ran, and Refused how many
	// refused an object.
	Rules   int `json:"rules"`
	Ran     int `json:"ran"`
	Refused int `json:"refused"`
	// Conditions is how many the rules have, Both how many of those were true and
	// false.
	Conditions int `json:"conditions"`
	Both       int `json:"both"`
	// Decisive is how many conditions were shown to count; see Condition.MCDC.
	Decisive int    `json:"mcdc"`
	Items    []Item `json:"items"`
}

// Item is one rule.
type Item struct {
	CRD string `json:"crd"`
	// Version is the newest of those with equal schemas.
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Rule    string `json:"rule"`
	// Ran is how often the rule ran, at each place of each object; Refused how
	// often it was false and so refused the object itself, Errors how often it
	// failed to evaluate. Ratcheted are those where a false rule only warned.
	Ran       int `json:"ran"`
	Passed    int `json:"passed"`
	Refused   int `json:"refused"`
	Errors    int `json:"errors"`
	Ratcheted int `json:"ratcheted,omitempty"`
	// Conditions are in the order of the text.
	Conditions []Condition `json:"conditions"`
	// Unmeasured says why nothing is known of the rule's conditions; "" where they
	// are measured.
	Unmeasured string `json:"unmeasured,omitempty"`
}

// Condition is a part of a rule that is true or false: an operand of && or ||,
// that of !, the condition of ?: or a branch that is a bool, or the predicate of a
// macro; of such operators inside each other what they end in.
type Condition struct {
	Text string `json:"text"`
	// Start and End are where in the rule, in code points.
	Start int `json:"start"`
	End   int `json:"end"`
	// True, False and Errors are how often it came to that, in a macro for each
	// element.
	True   int `json:"true"`
	False  int `json:"false"`
	Errors int `json:"errors"`
	// MCDC is true where the condition was shown to count: it was once true and
	// once false, to different outcomes of the decision around it, which it alone
	// could have turned each time.
	MCDC bool `json:"mcdc"`
}

// Report tells what was seen so far.
func (r *Recorder) Report() *Report {
	r.mu.Lock()
	watches, rules := slices.Clone(r.watches), slices.Clone(r.order)
	first := map[string]map[string]string{}
	for crd := range r.schemas {
		first[crd] = r.schemas.first(crd)
	}
	r.mu.Unlock()
	for _, w := range watches {
		w.finish()
	}
	joined, order := map[key]*seen{}, []*seen{}
	for _, rule := range rules {
		one := rule.seen()
		if version := first[one.item.CRD][one.item.Version]; version != "" {
			one.item.Version = version
		}
		k := key{one.item.CRD, one.item.Version, one.item.Path, one.item.Rule}
		if joined[k] == nil {
			joined[k] = one
			order = append(order, one)
		} else {
			joined[k].item.join(&one.item, joined[k].shown, one.shown)
		}
	}
	report := &Report{Items: make([]Item, 0, len(order))}
	for _, one := range order {
		for i := range one.item.Conditions {
			one.item.Conditions[i].MCDC = one.shown[i].counts()
		}
		report.add(one.item)
	}
	slices.SortStableFunc(report.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.CRD, b.CRD), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Rule, b.Rule))
	})
	return report
}

// seen is a copy of what was seen of a rule.
type seen struct {
	item  Item
	shown []shown
}

func (r *rule) seen() *seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := &seen{r.item, slices.Clone(r.shown)}
	one.item.Unmeasured = r.unmeasured
	one.item.Conditions = append([]Condition{}, r.item.Conditions...)
	return one
}

func (r *Report) add(item Item) {
	r.Rules++
	if item.Ran > 0 {
		r.Ran++
	}
	if item.Refused > 0 {
		r.Refused++
	}
	for _, c := range item.Conditions {
		r.Conditions++
		if c.True > 0 && c.False > 0 {
			r.Both++
		}
		if c.MCDC {
			r.Decisive++
		}
	}
	r.Items = append(r.Items, item)
}

// Percent is how many of a hundred rules ran and refused; 100 where there is no
// rule.
func (r *Report) Percent() float64 {
	if r.Rules == 0 {
		return 100
	}
	return 100 * float64(r.Refused) / float64(r.Rules)
}

// Gap is something that no test asks.
type Gap struct {
	// Start and End are where in the rule, in code points; of the whole rule both
	// are its bounds.
	Start, End int
	// Text says what is missing, as "`has(self.a)` never false".
	Text string
}

// Gaps are what is missing of a rule, nil where nothing is.
func (i *Item) Gaps() (gaps []Gap) {
	whole := func(text string) { gaps = append(gaps, Gap{0, len([]rune(i.Rule)), text}) }
	switch {
	case i.Ran == 0:
		whole("never ran")
		return gaps
	case i.Refused == 0:
		whole("never refused")
	}
	if i.Passed == 0 {
		whole("never passed")
	}
	for _, c := range i.Conditions {
		if text := c.missing(); text != "" {
			gaps = append(gaps, Gap{c.Start, c.End, "`" + c.Text + "` " + text})
		}
	}
	return gaps
}

// missing is what was not seen of a condition.
func (c *Condition) missing() string {
	switch {
	case c.True == 0 && c.False == 0 && c.Errors == 0:
		return "never evaluated"
	case c.True == 0 && c.False == 0:
		return fmt.Sprintf("never true and never false, %d times an error", c.Errors)
	case c.True == 0:
		return "never true"
	case c.False == 0:
		return "never false"
	case !c.MCDC:
		return "true and false, but never what the outcome hung on"
	}
	return ""
}
