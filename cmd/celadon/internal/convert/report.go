package convert

import (
	"fmt"
	"io"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
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
	File     string               `json:"file"`
	Line     int                  `json:"line"`
	Name     string               `json:"name"`
	Pairs    []roundtrip.Pair     `json:"pairs"`
	Findings []*roundtrip.Finding `json:"findings"`
	More     bool                 `json:"more,omitempty"`
}

func (r *Report) add(of *definition, made *roundtrip.Report) {
	findings := append([]*roundtrip.Finding{}, made.Findings...)
	c := &CRD{File: of.file, Line: of.line, Name: of.crd.Name, Pairs: made.Pairs, Findings: findings, More: made.More}
	r.CRDs = append(r.CRDs, c)
	r.Summary.CRDs++
	r.Summary.Trips += made.Objects()
	r.Summary.Findings += len(c.Findings)
}

func (r *Report) print(out io.Writer, o *TestOptions) error {
	if o.Output == "json" {
		return print.JSON(out, r)
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
		b.WriteString(resource.Indent(string(data), "    ") + "\n")
		if f.Change != nil {
			untrusted.Fprintf(b, "    # and in %s: %s\n", f.To, f.Change.String())
		}
	}
	if len(c.Findings) > 0 {
		b.WriteString("\n")
	}
	trips := 0
	for _, p := range c.Pairs {
		trips += p.Objects
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
