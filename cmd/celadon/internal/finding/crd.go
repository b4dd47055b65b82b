package finding

import (
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// CRD is what the API server would say of a CRD that objects are checked by. The
// JSON form is fixed: scripts read it.
type CRD struct {
	Source   string   `json:"source,omitempty"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Name     string   `json:"name"`
	Accepted bool     `json:"accepted"`
	Status   *Status  `json:"status,omitempty"`
	Causes   []Cause  `json:"causes"`
	Warnings []string `json:"warnings,omitempty"`
	// Undecided: the answer asks for more work than is done. Problem says why.
	Undecided bool   `json:"undecided,omitempty"`
	Problem   string `json:"problem,omitempty"`
	// Known: a baseline has all that is wrong.
	Known bool `json:"known,omitempty"`
	// Strict are the places of unknown and duplicate fields.
	Strict []Place `json:"strict,omitempty"`

	// Update is true where the CRD replaces another.
	Update bool `json:"-"`
	// Bug is a failure of ours, not of the CRD.
	Bug error `json:"-"`
}

// CRDSummary counts the CRDs of a run.
type CRDSummary struct {
	Accepted  int `json:"accepted"`
	Refused   int `json:"refused"`
	Undecided int `json:"undecided,omitempty"`
}

// Refused is true where the API server would not take the CRD.
func (c *CRD) Refused() bool { return !c.Accepted && !c.Undecided && c.Bug == nil }

// AsObject is the CRD as the object that it is, for reports that list findings.
func (c *CRD) AsObject() *Object {
	o := &Object{
		Source: c.Source, Known: c.Known, File: c.File, Line: c.Line, Causes: c.Causes, Warnings: c.Warnings, Status: c.Status, Strict: c.Strict, Problem: c.Problem,
		Identity:  Identity{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: c.Name},
		Operation: "create", Verdict: Valid,
	}
	if c.Update {
		o.Operation = "update"
	}
	switch {
	case c.Bug != nil:
		o.Verdict, o.Problem = Unreadable, c.Bug.Error()
	case c.Undecided:
		o.Verdict = Undecided
	case !c.Accepted:
		o.Verdict = Invalid
	}
	return o
}

// quiet is true where there is nothing to tell of the CRD.
func (c *CRD) quiet() bool { return c.Accepted && len(c.Warnings) == 0 }

func (p *textPrinter) CRD(c *CRD) error {
	if c.quiet() {
		return nil
	}
	return p.Object(c.AsObject())
}

func (p *junitPrinter) CRD(c *CRD) error {
	if c.quiet() {
		return nil // no test that anybody asked for
	}
	return p.Object(c.AsObject())
}

func (p *githubPrinter) CRD(c *CRD) error { return p.Object(c.AsObject()) }

func (p *sarifPrinter) CRD(c *CRD) error { return p.Object(c.AsObject()) }

func (p *jsonPrinter) CRD(c *CRD) error {
	p.crds = append(p.crds, c)
	return nil
}

// CRD leaves accepted ones out: who reads lines as they come expects objects.
func (p *jsonLinesPrinter) CRD(c *CRD) error {
	if c.quiet() {
		return nil
	}
	return Encoder(p.w).Encode(struct {
		CRD *CRD `json:"crd"`
	}{c})
}

// text is what the last line of a report says of the CRDs.
func (s *CRDSummary) text() untrusted.Own {
	var text untrusted.Own
	if s != nil && s.Refused > 0 {
		text += untrusted.Sprintf("; %s refused", phrase.Count(s.Refused, "CRD"))
	}
	if s != nil && s.Undecided > 0 {
		text += untrusted.Sprintf("; %s undecided", phrase.Count(s.Undecided, "CRD"))
	}
	return text
}
