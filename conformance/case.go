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

// Case is a write of an object, with the known parts of the expected result.
type Case struct {
	// ID names the case in known_failures.txt. For a corpus, it is the file below the corpus's
	// cases folder and the index of the document in it, followed by "@variant" if the case runs
	// with another variant of its CRD.
	ID string
	// Project is the name of the folder that contains the case, or of the generator of the case.
	Project string
	// CRD defines the schema of the objects.
	CRD *CRD
	// Variant is set if CRD is another variant of the CRD. The maintainers expect the same verdict
	// for it, but no response was recorded.
	Variant bool

	Version string
	// OldVersion is the version of the old object: "" for Version, or the storage version. In any
	// other version the old object may lack fields.
	OldVersion      string
	Subresource     string
	FieldValidation string
	// Ratcheting is set if the old object was stored under an older schema.
	Ratcheting bool
	// Namespace is the namespace in the request's URL, if it differs from the object's. "" means
	// the object's namespace.
	Namespace string

	// Object is the object to write. OldObject is the object that it replaces, or nil for a create.
	Object, OldObject map[string]any
	// Raw is the body of the request, if it is not the encoding of Object.
	Raw []byte

	// Expect is the verdict that the maintainers expect: "valid", "invalid", or "" if it is
	// unknown.
	Expect          string
	ErrorContains   []string
	ErrorIgnoreCase bool
	ExpectObject    map[string]any

	// Recorded is the API server's recorded response, or nil.
	Recorded *Answer
	// Claim is the complete response that the generator of the case predicts, or nil.
	Claim *Answer
}

func (c *Case) known() bool { return c.Claim != nil || c.Recorded != nil || c.Expect != "" }

// Update reports whether the case replaces an object.
func (c *Case) Update() bool { return c.OldObject != nil }

// CRD is a CustomResourceDefinition and the path of its file.
type CRD struct {
	Path       string
	Definition *apiextensionsv1.CustomResourceDefinition
}

// ReadCRD reads a CRD file. It removes webhook conversion, because the webhook is not available
// when cases run.
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

func (c *CRD) variant() string {
	return strings.TrimSuffix(filepath.Base(c.Path), filepath.Ext(c.Path))
}

func (c *Case) oldVersion() string { return cmp.Or(c.OldVersion, c.Version) }

// Group holds all cases of a CRD.
type Group struct {
	CRD   *CRD
	Cases []*Case
}

// The largest group comes first, because a large group that starts last would run alone.
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

// sample returns part of a corpus: some CRDs of each project, each in a single variant, and an even
// selection of their cases.
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

// spread returns n evenly spaced cases, or all of them if there are fewer.
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
