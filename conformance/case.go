package conformance

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/catalog"
)

// Case is one write of one object, and what is known of the right answer.
type Case struct {
	// ID names the case in known_failures.txt: the file under the corpus's
	// cases folder and the document in it, and "@variant" when the case is
	// tried with a further variant of its CRD.
	ID string
	// Project is the folder that the case stands in.
	Project string
	// CRD is the schema to use.
	CRD *CRD
	// Variant is true for a further variant of the CRD: of it the maintainers
	// demand the same verdict, and nothing was recorded.
	Variant bool

	Version string
	// OldVersion is the version in which the old object is, this one ("") or
	// the one in storage: what any other shows may lack fields.
	OldVersion      string
	Subresource     string
	FieldValidation string
	// Ratcheting says that the old object was stored under an older schema.
	Ratcheting bool
	// Namespace is the namespace in the request's URL where the object has
	// another; "" is the object's.
	Namespace string

	// Object is what is written; OldObject what it replaces, nil for a create.
	Object, OldObject map[string]any
	// Raw is the request's body where it is not simply Object.
	Raw []byte

	// Expect is "valid", "invalid", or "" where nobody said.
	Expect          string
	ErrorContains   []string
	ErrorIgnoreCase bool
	ExpectObject    map[string]any

	// Recorded is the API server's own answer; nil where there is none.
	Recorded *Answer
	// Claim is all of the answer, as who made up the case says; nil where nobody
	// does.
	Claim *Answer
}

// Update says whether the case replaces an object.
func (c *Case) Update() bool { return c.OldObject != nil }

// CRD is a CustomResourceDefinition and the file it came from.
type CRD struct {
	Path       string
	Definition *apiextensionsv1.CustomResourceDefinition
}

// ReadCRD reads a CRD file. A webhook that converts between versions is not
// there when cases are tried, so such CRDs are tried with conversion None.
func ReadCRD(path string) (*CRD, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	definition, err := parseCRD(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &CRD{Path: path, Definition: definition}, nil
}

func parseCRD(data []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, err
	}
	crd, err := catalog.Decode(text)
	if err != nil {
		return nil, err
	}
	if c := crd.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
		crd.Spec.Conversion = nil
	}
	return crd, nil
}

// variant is the name of a CRD file without folder and ending.
func (c *CRD) variant() string {
	return strings.TrimSuffix(filepath.Base(c.Path), filepath.Ext(c.Path))
}

// oldVersion is the version in which the old object is.
func (c *Case) oldVersion() string { return cmp.Or(c.OldVersion, c.Version) }

// Group is all cases of one CRD.
type Group struct {
	CRD   *CRD
	Cases []*Case
}

// groups sorts cases by CRD, the largest group first: a long one that starts
// last would run alone.
func groups(cases []*Case) []*Group {
	byCRD := map[string]*Group{}
	var out []*Group
	for _, c := range cases {
		g := byCRD[c.CRD.Path]
		if g == nil {
			g = &Group{CRD: c.CRD}
			byCRD[c.CRD.Path] = g
			out = append(out, g)
		}
		g.Cases = append(g.Cases, c)
	}
	slices.SortStableFunc(out, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(len(b.Cases), len(a.Cases)), cmp.Compare(a.CRD.Path, b.CRD.Path))
	})
	return out
}

// sample picks a part of a corpus, the same in each run: of each project the
// CRDs with most cases, one variant of each, and of these cases evenly spread.
func sample(all []*Group, crdsPerProject, casesPerCRD int) []*Group {
	taken := map[string]int{}
	names := map[string]bool{}
	var out []*Group
	for _, g := range all {
		project, name := g.Cases[0].Project, g.CRD.Definition.Name
		if taken[project] >= crdsPerProject || names[name] {
			continue
		}
		taken[project]++
		names[name] = true
		out = append(out, &Group{CRD: g.CRD, Cases: spread(g.Cases, casesPerCRD)})
	}
	return out
}

// spread takes n of the cases, evenly.
func spread[T any](cases []T, n int) []T {
	if len(cases) <= n {
		return cases
	}
	out := make([]T, n)
	for i := range out {
		out[i] = cases[i*len(cases)/n]
	}
	return out
}
