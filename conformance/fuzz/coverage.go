package fuzz

import (
	"fmt"
	"io"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// coverage counts the rules and results of a run, to detect runs that test too little.
type coverage struct {
	env      *celenv.Env
	lib      *Library
	overload map[string]int
	rules    int
	compiled int
	// counts of compiled rules
	transition, overMaps int
	// counts of evaluations
	trues, falses, errors int
	ratcheted             int
	scenarios, objects    int
}

func newCoverage() *coverage {
	return &coverage{env: celenv.StoredRules(newest), lib: NewLibrary(), overload: map[string]int{}}
}

func (c *coverage) countRules(s *schema.Structural, d *types.Decl) {
	for i := range s.XValidations {
		c.rule(&s.XValidations[i], d)
	}
	for name, prop := range s.Properties {
		if f := d.Fields[name]; f != nil {
			c.countRules(&prop, f.Decl)
		}
	}
	if d.Elem == nil {
		return
	}
	if s.Items != nil {
		c.countRules(s.Items, d.Elem)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		c.countRules(s.AdditionalProperties.Structural, d.Elem)
	}
}

func (c *coverage) rule(r *apiextensionsv1.ValidationRule, d *types.Decl) {
	c.rules++
	_, checked, err := c.env.Compile(d, r.OptionalOldSelf != nil, r.Rule)
	if err != nil {
		return
	}
	c.compiled++
	if strings.Contains(r.Rule, types.OldSelf) {
		c.transition++
	}
	for _, ref := range checked.NativeRep().ReferenceMap() {
		for _, id := range ref.OverloadIDs {
			c.overload[id]++
		}
	}
	for _, t := range checked.NativeRep().TypeMap() {
		if t.Kind() == celtypes.MapKind {
			c.overMaps++
			break
		}
	}
}

// runs is the number of rules that were evaluated.
func (c *coverage) outcome(o outcome, runs int) {
	c.objects++
	if len(o.warnings) > 0 {
		c.ratcheted++
	}
	falses, errs := len(o.warnings), 0
	for _, err := range o.errs {
		switch {
		case strings.Contains(err, "rule compile error"), strings.Contains(err, "running out of cost budget"):
		case strings.Contains(err, "evaluating rule:"), strings.Contains(err, "call arguments did not match"), strings.Contains(err, "cost exceeds limit"):
			errs++
		default:
			falses++
		}
	}
	c.falses += falses
	c.errors += errs
	c.trues += max(0, runs-falses-errs)
}

// check returns nil if the coverage is sufficient.
func (c *coverage) check() []string {
	var short []string
	need := func(label string, n, of, percent int) {
		if of == 0 || n*100 < of*percent {
			short = append(short, fmt.Sprintf("%s: %d of %d, want %d %%", label, n, of, percent))
		}
	}
	for _, o := range c.lib.overloads {
		if id := o.decl.ID(); c.overload[id] == 0 {
			short = append(short, "overload never used: "+o.function+" "+id)
		}
	}
	results := c.trues + c.falses + c.errors
	need("rules that compile", c.compiled, c.rules, 50)
	need("results true", c.trues, results, 10)
	need("results false", c.falses, results, 10)
	need("results error", c.errors, results, 10)
	need("transition rules", c.transition, c.compiled, 20)
	need("ratcheted results", c.ratcheted, c.objects, 5)
	need("rules over maps", c.overMaps, c.compiled, 20)
	return short
}

func (c *coverage) print(out io.Writer) {
	fmt.Fprintf(out, "scenarios %d, rules %d, compiled %d, transition %d, over maps %d; results true %d, false %d, error %d; objects %d, ratcheted %d; overloads %d of %d\n",
		c.scenarios, c.rules, c.compiled, c.transition, c.overMaps, c.trues, c.falses, c.errors, c.objects, c.ratcheted, c.used(), len(c.lib.overloads))
}

func (c *coverage) used() int {
	n := 0
	for _, o := range c.lib.overloads {
		if c.overload[o.decl.ID()] > 0 {
			n++
		}
	}
	return n
}
