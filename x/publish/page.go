package publish

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// Config says what a page is made with. The same configuration and the same CRD
// give the same bytes.
type Config struct {
	// Costs are the estimates of rules, as in Layout.
	Costs map[engine.RuleRef]Cost
	// Steps and Seed are those of the search for examples; 0 is its default.
	Steps int
	Seed  uint64
}

// Page is the reference page of a CRD.
type Page struct {
	CRD *apiextensionsv1.CustomResourceDefinition
	// Versions are in the order of their priority.
	Versions []*Version
}

// Version is what a page says of one version.
type Version struct {
	*apiextensionsv1.CustomResourceDefinitionVersion
	// Root is nil where the schema is not structural.
	Root     *Field
	Fields   []*Field
	Examples []Example

	deepest int
}

// Example is an object that the server accepts, or why there is none.
type Example struct {
	Title, YAML, Missing string
	// MadeUp are the places of passwords.
	MadeUp []string
}

// deepest is how deep a schema may be for which examples are looked for: that
// takes time with the third power of the depth, and real schemas have 30.
const deepest = 200

// NewPage finds out all that stands on a page. The error is the context's, a
// *TooLongError, or a bug of ours.
func NewPage(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, cfg Config) (*Page, error) {
	p := &Page{CRD: crd}
	e, broken := engine.Compile(crd, engine.Config{})
	room := MaxText
	for i := range crd.Spec.Versions {
		v := &Version{CustomResourceDefinitionVersion: &crd.Spec.Versions[i]}
		if err := v.read(cfg.Costs, &room); err != nil {
			return nil, err
		}
		if room < 0 {
			return nil, &TooLongError{Name: crd.Name}
		}
		switch {
		case !v.Served:
		case e == nil:
			v.Examples = []Example{{Title: "Example", Missing: "none: " + broken.Error()}}
		case v.deepest > deepest:
			v.Examples = []Example{{Title: "Example", Missing: fmt.Sprintf("none: the schema is %d deep, and none is looked for beyond %d", v.deepest, deepest)}}
		default:
			if err := v.find(ctx, crd, e, cfg); err != nil {
				return nil, err
			}
		}
		p.Versions = append(p.Versions, v)
	}
	slices.SortStableFunc(p.Versions, func(a, b *Version) int { return version.CompareKubeAwareVersionStrings(b.Name, a.Name) })
	return p, nil
}

// find looks for the two examples.
func (v *Version) find(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, cfg Config) error {
	a, err := analysis.New(crd, e, v.Name, analysis.Config{Steps: cfg.Steps, Seed: cfg.Seed})
	if err != nil {
		v.Examples = []Example{{Title: "Example", Missing: "none: " + err.Error()}}
		return nil
	}
	a.Charge(work.NewRun(1, 1))
	for _, one := range []struct {
		title string
		full  bool
	}{{"Minimal example", false}, {"Full example", true}} {
		found, err := a.Sample(ctx, one.full)
		if err != nil {
			return err
		}
		x := Example{Title: one.title}
		switch {
		case found.Witness == nil && found.Reason != "":
			x.Missing = "none: " + found.Reason
		case found.Witness == nil:
			x.Missing = fmt.Sprintf("none found among %s objects", phrase.Number(uint64(found.Searched)))
		default:
			data, err := untrusted.YAML(found.Witness.Object)
			if err != nil {
				return err
			}
			x.YAML, x.MadeUp = string(data), found.MadeUp
		}
		v.Examples = append(v.Examples, x)
	}
	return nil
}

// Examples are the objects on the page, in YAML.
func (p *Page) Examples() (all []string) {
	for _, v := range p.Versions {
		for _, x := range v.Examples {
			if x.YAML != "" {
				all = append(all, x.YAML)
			}
		}
	}
	return all
}
