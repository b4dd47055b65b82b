package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/google/cel-go/cel"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// compiling is the compilation of one CRD in all its versions.
type compiling struct {
	subject *subject
	schemas []*schema.Structural
	// once are the distinct expressions of each version, all those of the CRD.
	versions [][]expression
	all      []expression
}

// expression is one that cannot be avoided to parse and check.
type expression struct {
	env *cel.Env
	src string
}

// compileRatios are medians of the turns.
type compileRatios struct {
	// rules are CompileRules, whole is Compile, both how many times as fast as
	// upstream's.
	rules, whole float64
	// the part of our time that parsing and checking the distinct expressions
	// takes, of each version and of the CRD, in environments that are there.
	boundRules, boundWhole float64
}

// printCompile measures compiling each subject's CRD, in CPU time: garbage
// collection is part of it.
func printCompile(out io.Writer, subjects []*subject, turns int) error {
	fmt.Fprintln(out, "compile a CRD in all versions: CompileRules of each version, and Compile, against cel.NewValidator of each version;")
	fmt.Fprintln(out, "bound: the part of our time that it takes to parse and check the distinct expressions")
	var rules, whole []float64
	for _, s := range subjects {
		c, err := newCompiling(s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		t := c.measure(turns)
		fmt.Fprintf(out, "%-62s %4d expressions, %4d distinct  rules %5.1fx, bound %3.0f %%  CRD %5.1fx, bound %3.0f %%\n", shorten(s.name, 62),
			count(c.versions), len(c.all), t.rules, 100*t.boundRules, t.whole, 100*t.boundWhole)
		rules, whole = append(rules, t.rules), append(whole, t.whole)
	}
	for name, ratios := range map[string][]float64{"rules": rules, "CRD": whole} {
		slices.Sort(ratios)
		fmt.Fprintf(out, "compile, %s: geomean %.1fx  median %.1fx  worst %.1fx\n", name, geomean(ratios), ratios[len(ratios)/2], ratios[0])
	}
	return nil
}

func count(versions [][]expression) (n int) {
	for _, v := range versions {
		n += len(v)
	}
	return n
}

func newCompiling(s *subject) (*compiling, error) {
	c := &compiling{subject: s}
	all := newExpressions()
	for i := range s.crd.Definition.Spec.Versions {
		u, err := newUpstream(s.crd.Definition, &s.crd.Definition.Spec.Versions[i])
		if err != nil {
			return nil, err
		}
		c.schemas = append(c.schemas, u.schema)
		one := newExpressions()
		for _, x := range []*expressions{one, all} {
			if err := x.schema(u.schema); err != nil {
				return nil, err
			}
		}
		c.versions = append(c.versions, one.list)
	}
	c.all = all.list
	return c, nil
}

func (c *compiling) measure(turns int) compileRatios {
	works := []func(){
		func() {
			for _, s := range c.schemas {
				upstreamcel.NewValidator(s, true, celconfig.PerCallLimit)
			}
		},
		func() {
			for _, s := range c.schemas {
				_, _ = engine.CompileRules(s, engine.Config{})
			}
		},
		func() { _, _ = engine.Compile(c.subject.crd.Definition, engine.Config{}) },
		func() {
			for _, v := range c.versions {
				parseAndCheck(v)
			}
		},
		func() { parseAndCheck(c.all) },
	}
	// A turn's figures are taken one after the other, and only they compared.
	var rules, whole, boundRules, boundWhole []float64
	for range turns {
		var t [5]float64
		for i, work := range works {
			t[i] = perCallOver(10*turnTime, work)
		}
		rules, whole = append(rules, t[0]/t[1]), append(whole, t[0]/t[2])
		boundRules, boundWhole = append(boundRules, t[3]/t[1]), append(boundWhole, t[4]/t[2])
	}
	return compileRatios{median(rules), median(whole), median(boundRules), median(boundWhole)}
}

func parseAndCheck(list []expression) {
	for _, x := range list {
		_, _ = types.Check(x.env, x.src)
	}
}

// expressions collects those that differ in text or declaration.
type expressions struct {
	decls *types.Interner
	base  *types.Env
	envs  map[place]*cel.Env
	seen  map[expression]bool
	list  []expression
}

type place struct {
	decl     *types.Decl
	optional bool
}

func newExpressions() *expressions {
	return &expressions{
		decls: types.NewInterner(),
		base:  types.StoredEnv(types.Version{Minor: types.Newest}),
		envs:  map[place]*cel.Env{},
		seen:  map[expression]bool{},
	}
}

func (x *expressions) schema(s *schema.Structural) error {
	return x.node(s, x.decls.FromSchema(s, types.ResourceRoot))
}

func (x *expressions) node(s *schema.Structural, d *types.Decl) error {
	if d.Kind == types.Hidden {
		return nil
	}
	for _, rule := range s.XValidations {
		at := place{d, rule.OptionalOldSelf != nil && *rule.OptionalOldSelf}
		if err := x.add(at, rule.Rule); err != nil {
			return err
		}
		if err := x.add(at, rule.MessageExpression); err != nil {
			return err
		}
	}
	for name, prop := range s.Properties {
		if f := d.Fields[name]; f != nil {
			if err := x.node(&prop, f.Decl); err != nil {
				return err
			}
		}
	}
	if s.Items != nil {
		return x.node(s.Items, d.Elem)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		return x.node(s.AdditionalProperties.Structural, d.Elem)
	}
	return nil
}

func (x *expressions) add(at place, src string) (err error) {
	if src == "" {
		return nil
	}
	if x.envs[at] == nil {
		if x.envs[at], err = x.base.For(at.decl, at.optional); err != nil {
			return err
		}
	}
	e := expression{x.envs[at], src}
	if !x.seen[e] {
		x.seen[e] = true
		x.list = append(x.list, e)
	}
	return nil
}
