package main

import (
	"fmt"
	"runtime"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/types"
)

// compiling holds the data for compiling a CRD in all its versions.
type compiling struct {
	crd     *apiextensionsv1.CustomResourceDefinition
	plain   *apiextensionsv1.CustomResourceDefinition // without rules
	schemas []*schema.Structural
	// versions and all hold the distinct expressions of each version, and of the CRD. Parsing and
	// checking them is unavoidable.
	versions [][]expression
	all      []expression
}

type expression struct {
	decl     *types.Decl
	optional bool
	src      string
}

// compileRatios holds medians over the turns.
type compileRatios struct {
	// Speed relative to cel.NewValidator for each version: each is for CompileRules of each
	// version, shared is for Compile minus the time for the same CRD without rules, and whole is
	// for Compile.
	each, shared, whole float64
	// Upper bounds of each, and of shared and whole: their values if Celadon only parsed and
	// checked.
	eachMost, most float64
}

// printCompile measures compiling the subjects. A ratio is how many times as fast Celadon is.
func printCompile(out report, subjects []*subject, turns int) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	fmt.Fprintln(out.detail, "compile a CRD in all versions, against cel.NewValidator of each: CompileRules of each; the rules' part of Compile, where")
	fmt.Fprintln(out.detail, "versions share; and all of Compile, which makes the schemas too. At most: if it did no more than parse and check each")
	fmt.Fprintln(out.detail, "distinct expression once.")
	var each, shared, whole []float64
	for _, s := range subjects {
		c, err := newCompiling(s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r := c.measure(turns)
		fmt.Fprintf(out.detail, "%-40.40s %4d expressions, %4d distinct  CompileRules %5.1fx of at most %5.1fx (%3.0f %%)  Compile's rules %5.1fx of at most %5.1fx (%3.0f %%), all %5.1fx\n",
			s.name, count(c.versions), len(c.all), r.each, r.eachMost, 100*r.each/r.eachMost, r.shared, r.most, 100*r.shared/r.most, r.whole)
		each, shared, whole = append(each, r.each), append(shared, r.shared), append(whole, r.whole)
	}
	for _, row := range []struct {
		name   string
		ratios []float64
	}{{"rules of each version", each}, {"rules of a CRD, all versions", shared}, {"a CRD, with its schemas", whole}} {
		fmt.Fprintf(out.kept, "%-30s %s\n", row.name, spreadOf(row.ratios))
	}
	return nil
}

func spreadOf(ratios []float64) string {
	return fmt.Sprintf("geomean %.1fx  median %.1fx  worst %.1fx", geomean(ratios), median(ratios), slices.Min(ratios))
}

func count(versions [][]expression) (n int) {
	for _, v := range versions {
		n += len(v)
	}
	return n
}

func newCompiling(s *subject) (*compiling, error) {
	schemas, err := s.schemas()
	if err != nil {
		return nil, err
	}
	c := &compiling{crd: s.crd.Definition, plain: s.crd.Definition.DeepCopy(), schemas: schemas}
	brokencrd.EachSchema(c.plain, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = nil })
	all := newExpressions()
	for _, s := range schemas {
		one := newExpressions()
		for _, x := range []*expressions{one, all} {
			x.node(s, x.decls.FromSchema(s, types.ResourceRoot))
		}
		c.versions = append(c.versions, one.list)
	}
	c.all = all.list
	return c, nil
}

func (c *compiling) works() []func() {
	return []func(){
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
		func() { _, _ = engine.Compile(c.crd, engine.Config{}) },
		func() {
			for _, v := range c.versions {
				parseAndCheck(v)
			}
		},
		func() { parseAndCheck(c.all) },
		func() { _, _ = engine.Compile(c.plain, engine.Config{}) },
	}
}

// measure compares only times that were measured in the same turn.
func (c *compiling) measure(turns int) compileRatios {
	works, collector := c.works(), collectorTime()
	garbage := make([]float64, len(works))
	for i, work := range works {
		bytes, _ := allocated(work)
		garbage[i] = collector * bytes
	}
	var each, shared, whole, eachMost, most []float64
	for range turns {
		took := make([]float64, len(works))
		for i, work := range works {
			withoutCollector(func() { took[i] = perCallOver(10*turnTime, work) + garbage[i] })
		}
		each = append(each, took[0]/took[1])
		shared = append(shared, took[0]/(took[2]-took[5]))
		whole = append(whole, took[0]/took[2])
		eachMost = append(eachMost, took[0]/took[3])
		most = append(most, took[0]/took[4])
	}
	return compileRatios{median(each), median(shared), median(whole), median(eachMost), median(most)}
}

func parseAndCheck(list []expression) {
	scope, err := celenv.StoredRules(types.Version{Minor: types.Newest}).Scope()
	if err != nil {
		panic(err) // the error is not possible here
	}
	for _, x := range list {
		_, _ = scope.Compile(x.decl, x.optional, x.src)
	}
}

// expressions collects the distinct expressions: those that differ in source or declaration.
type expressions struct {
	decls *types.Interner
	seen  map[expression]bool
	list  []expression
}

func newExpressions() *expressions {
	return &expressions{decls: types.NewInterner(), seen: map[expression]bool{}}
}

func (x *expressions) node(s *schema.Structural, d *types.Decl) {
	if d.Kind == types.Hidden {
		return
	}
	for _, rule := range s.XValidations {
		for _, src := range []string{rule.Rule, rule.MessageExpression} {
			x.add(expression{d, rule.OptionalOldSelf != nil && *rule.OptionalOldSelf, src})
		}
	}
	for name, prop := range s.Properties {
		if f := d.Fields[name]; f != nil {
			x.node(&prop, f.Decl)
		}
	}
	if s.Items != nil {
		x.node(s.Items, d.Elem)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		x.node(s.AdditionalProperties.Structural, d.Elem)
	}
}

func (x *expressions) add(e expression) {
	if e.src != "" && !x.seen[e] {
		x.seen[e] = true
		x.list = append(x.list, e)
	}
}
