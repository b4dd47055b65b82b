package finding

import (
	"fmt"
	"strings"
)

// CRD is the API server's verdict on a CRD that validates objects. The JSON form is a published
// contract.
type CRD struct {
	Source   string   `json:"source,omitempty"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Name     string   `json:"name"`
	Accepted bool     `json:"accepted"`
	Status   *Status  `json:"status,omitempty"`
	Causes   []Cause  `json:"causes"`
	Warnings []string `json:"warnings,omitempty"`
	// Undecided is set if the CRD exceeds the work limit. Problem has the details.
	Undecided bool   `json:"undecided,omitempty"`
	Problem   string `json:"problem,omitempty"`
	// Known is set if a baseline contains all errors of the CRD.
	Known bool `json:"known,omitempty"`
	// Strict lists the positions of unknown and duplicate fields.
	Strict []Location `json:"strict,omitempty"`

	// Update is set if the CRD replaces another.
	Update bool `json:"-"`
	// Kept lists the fields of the stored CRD that kubectl apply keeps, with their values.
	Kept []string `json:"-"`
	// Bug is an internal error.
	Bug error `json:"-"`
}

// Kept returns a note about fields that kubectl apply keeps.
func Kept(location string, fields []string) error {
	return fmt.Errorf("%s: kubectl apply keeps %s of the stored CRD: set it in the file to change it; kubectl replace removes it", location, strings.Join(fields, ", "))
}

// CRDSummary counts the CRDs of a run.
type CRDSummary struct {
	Accepted  int `json:"accepted"`
	Rejected  int `json:"refused"`
	Undecided int `json:"undecided,omitempty"`
}

// Rejected reports whether the API server would reject the CRD.
func (c *CRD) Rejected() bool { return !c.Accepted && !c.Undecided && c.Bug == nil }

// AsObject returns the CRD as an Object, for formats that list findings.
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

// Quiet reports whether the CRD is accepted without warnings.
func (c *CRD) Quiet() bool { return c.Accepted && len(c.Warnings) == 0 }
