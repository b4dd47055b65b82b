package convert

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/roundtrip"
)

// Report is the result of celadon convert test. -o json prints it.
type Report struct {
	Kind       string  `json:"kind"`
	APIVersion string  `json:"apiVersion"`
	Seed       uint64  `json:"seed"`
	Summary    Summary `json:"summary"`
	CRDs       []*CRD  `json:"crds"`
}

// Summary holds the counts of a report.
type Summary struct {
	CRDs     int `json:"crds"`
	Trips    int `json:"trips"`
	Findings int `json:"findings"`
	// Single counts the CRDs with one version, which were not tested.
	Single int `json:"single,omitempty"`
}

// CRD holds the results for a CRD.
type CRD struct {
	File     string     `json:"file"`
	Line     int        `json:"line"`
	Name     string     `json:"name"`
	Pairs    []Pair     `json:"pairs"`
	Findings []*Finding `json:"findings"`
	More     bool       `json:"more,omitempty"`

	crd *apiextensionsv1.CustomResourceDefinition
}

// Pair counts round trips from one version to another and back.
type Pair struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Role    string `json:"role"`
	Trips   int    `json:"trips"`
	Changed int    `json:"changed"`
}

// Finding is a defect of a converter.
type Finding struct {
	Kind      roundtrip.Kind `json:"kind"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Path      string         `json:"path"`
	Text      string         `json:"text"`
	Times     int            `json:"times"`
	Object    map[string]any `json:"object"`
	Change    *Change        `json:"change,omitempty"`
	Converted map[string]any `json:"converted,omitempty"`
	Back      map[string]any `json:"back,omitempty"`
}

// Change is a change that was made in the other version during a round trip.
type Change struct {
	Path    string         `json:"path"`
	Value   any            `json:"value,omitempty"`
	Removed bool           `json:"removed,omitempty"`
	Patch   map[string]any `json:"patch"`

	description string
}

func (r *Report) add(of *definition, made *roundtrip.Report) {
	c := &CRD{File: of.file, Line: of.line, Name: of.crd.Name, Findings: []*Finding{}, More: made.More, crd: of.crd}
	for _, p := range made.Pairs {
		c.Pairs = append(c.Pairs, Pair{p.From, p.To, p.Role, p.Objects, p.Changed})
	}
	for _, f := range made.Findings {
		out := &Finding{f.Kind, f.From, f.To, f.Path, f.Text, f.Times, f.Object, nil, f.Converted, f.Back}
		if f.Change != nil {
			out.Change = &Change{f.Change.Path, f.Change.Value, f.Change.Removed, f.Change.Patch, f.Change.String()}
		}
		c.Findings = append(c.Findings, out)
	}
	r.CRDs = append(r.CRDs, c)
	r.Summary.CRDs++
	r.Summary.Trips += made.Objects()
	r.Summary.Findings += len(c.Findings)
}

// write prints the report, and then writes the cases.
func (r *Report) write(s command.Streams, o *TestOptions) error {
	if err := r.print(untrusted.NewWriter(s.Stdout), o); err != nil || o.CasesOut == "" {
		return err
	}
	return writeCases(s, o, r)
}

func (r *Report) print(out io.Writer, o *TestOptions) error {
	if o.Output == "json" {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	var b strings.Builder
	for _, c := range r.CRDs {
		if err := c.print(&b); err != nil {
			return err
		}
	}
	if r.Summary.Single > 0 {
		fmt.Fprintf(&b, "%s with one version: nothing to convert\n", phrase.Count(r.Summary.Single, "CRD"))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// print writes the findings for people.
func (c *CRD) print(b *strings.Builder) error {
	for _, f := range c.Findings {
		untrusted.Fprintf(b, "%s: %s, %s to %s and back, %s: %s\n", c.Name, f.Kind, f.From, f.To, phrase.Count(f.Times, "object"), f.Text)
		data, err := untrusted.YAML(f.Object)
		if err != nil {
			return err
		}
		indented(b, data)
		if f.Change != nil {
			untrusted.Fprintf(b, "    # and in %s: %s\n", f.To, f.Change.description)
		}
	}
	if len(c.Findings) > 0 {
		b.WriteString("\n")
	}
	trips := 0
	for _, p := range c.Pairs {
		trips += p.Trips
	}
	said := "no findings"
	if n := len(c.Findings); n > 0 {
		said = phrase.Count(n, "finding")
	}
	untrusted.Fprintf(b, "%s: %s in %s between %s\n", c.Name, said, phrase.Count(trips, "round trip"), c.between())
	if c.More {
		fmt.Fprintf(b, "  only the first findings are shown\n")
	}
	return nil
}

// between names the versions.
func (c *CRD) between() string {
	var names []string
	last := ""
	for _, p := range c.Pairs {
		if p.From != last {
			names, last = append(names, p.From), p.From
		}
	}
	end := len(names) - 1
	return strings.Join(names[:end], ", ") + " and " + names[end]
}

func indented(b *strings.Builder, data []byte) {
	for line := range strings.Lines(string(data)) {
		b.WriteString("    " + line)
	}
}
