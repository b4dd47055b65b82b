package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// Config holds the options of NewPage. The same options and CRD produce identical output.
type Config struct {
	// Costs holds the estimates of rules, as in Layout.
	Costs map[engine.RuleRef]Cost
	// Steps and Seed configure the search for examples; 0 is the default.
	Steps int
	Seed  uint64
}

// Page holds the content of a CRD's reference page.
type Page struct {
	CRD *apiextensionsv1.CustomResourceDefinition
	// Versions are sorted by priority.
	Versions []*Version
}

// Version holds the content of a version.
type Version struct {
	*apiextensionsv1.CustomResourceDefinitionVersion
	// Root is nil if the schema is missing or not structural.
	Root     *Field
	Fields   []*Field
	Examples []Example

	deepest int
}

// Example is an object that the server accepts, or the reason why it is Missing.
type Example struct {
	Title, YAML, Missing string
	// MadeUp lists the paths of passwords in the example.
	MadeUp []string
}

// deepest limits the depth of a schema for which examples are searched. The search takes time cubic in
// the depth, and real schemas have far fewer levels.
const deepest = 200

// NewPage collects the content of a page. It returns a *TooLongError if the page would be too long.
func NewPage(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, cfg Config) (*Page, error) {
	p := &Page{CRD: crd}
	e, broken := engine.Compile(crd, engine.Config{})
	bytesLeft := MaxText
	for i := range crd.Spec.Versions {
		v := &Version{CustomResourceDefinitionVersion: &crd.Spec.Versions[i]}
		if err := v.read(cfg.Costs, &bytesLeft); err != nil {
			return nil, err
		}
		if bytesLeft < 0 {
			return nil, &TooLongError{Name: crd.Name}
		}
		switch {
		case !v.Served:
		case e == nil:
			v.Examples = []Example{{Title: "Example", Missing: "no example: " + broken.Error()}}
		case v.deepest > deepest:
			v.Examples = []Example{{Title: "Example", Missing: fmt.Sprintf("no example: the schema is %d levels deep (limit %d)", v.deepest, deepest)}}
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

func (v *Version) find(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, cfg Config) error {
	a, err := analysis.New(crd, e, v.Name, analysis.Config{Steps: cfg.Steps, Seed: cfg.Seed})
	if err != nil {
		v.Examples = []Example{{Title: "Example", Missing: "no example: " + err.Error()}}
		return nil
	}
	a.Charge(work.NewRun(1, 1))
	for i, title := range []string{"Minimal example", "Full example"} {
		found, err := a.Sample(ctx, i > 0)
		if err != nil {
			return err
		}
		x := Example{Title: title}
		switch {
		case found.Witness == nil && found.Reason != "":
			x.Missing = "no example: " + found.Reason
		case found.Witness == nil:
			x.Missing = fmt.Sprintf("no example found among %s objects", phrase.Number(uint64(found.Searched)))
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

// Examples returns the page's example objects in YAML.
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

// About returns the names and the scope of the CRD's resource.
func (p *Page) About() []Fact {
	n := &p.CRD.Spec.Names
	scope := "one namespace each"
	if p.CRD.Spec.Scope == apiextensionsv1.ClusterScoped {
		scope = "the whole cluster"
	}
	all := []Fact{{"Group", p.CRD.Spec.Group}, {"Kind", n.Kind}, {"Resource", n.Plural + ", " + singular(n)}}
	all = withList(withList(all, "Short names", n.ShortNames), "Categories", n.Categories)
	return append(all, Fact{"Objects are in", scope})
}

func withList(all []Fact, name string, list []string) []Fact {
	if len(list) == 0 {
		return all
	}
	return append(all, Fact{name, strings.Join(list, ", ")})
}

// Lifecycle returns whether the version is served, stored, and deprecated, in words.
func (v *Version) Lifecycle() string {
	words := []string{"not served"}
	if v.Served {
		words[0] = "served"
	}
	if v.Storage {
		words = append(words, "stored")
	}
	switch {
	case v.Deprecated && v.DeprecationWarning != nil:
		words = append(words, "deprecated: "+*v.DeprecationWarning)
	case v.Deprecated:
		words = append(words, "deprecated")
	}
	return strings.Join(words, ", ")
}

// Extras returns the version's subresources, selectable fields, and printer columns.
func (v *Version) Extras() (all []Fact) {
	var subresources, fields, columns []string
	if sub := v.Subresources; sub != nil && sub.Status != nil {
		subresources = append(subresources, "status")
	}
	if sub := v.Subresources; sub != nil && sub.Scale != nil {
		subresources = append(subresources, fmt.Sprintf("scale (%s, %s)", sub.Scale.SpecReplicasPath, sub.Scale.StatusReplicasPath))
	}
	for _, f := range v.SelectableFields {
		fields = append(fields, strings.TrimPrefix(f.JSONPath, "."))
	}
	for _, c := range v.AdditionalPrinterColumns {
		columns = append(columns, fmt.Sprintf("%s (%s)", c.Name, c.JSONPath))
	}
	all = withList(all, "Subresources", subresources)
	return withList(withList(all, "Selectable fields", fields), "Columns of kubectl get", columns)
}

// Accepted returns the sentence that precedes an example.
func (Example) Accepted() string { return "The API server accepts this object." }

// Note returns the sentence that follows an example with passwords, or "".
func (x Example) Note() string {
	if len(x.MadeUp) == 0 {
		return ""
	}
	return "Placeholders, because the format is password: " + strings.Join(x.MadeUp, ", ") + "."
}
