// Package finding writes what celadon check found, in the forms that people,
// scripts and code-review pages read.
package finding

import (
	"fmt"
	"io"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// The verdicts of a report.
const (
	Valid      = "valid"
	Invalid    = "invalid"
	Skipped    = "skipped"
	Unreadable = "unreadable"
	// Undecided: the answer asks for more work than is done.
	Undecided = "undecided"
	// Ignored is what is no object at all; only text tells of it.
	Ignored = "ignored"
	// Unselected is what was not asked for; no report tells of it.
	Unselected = "unselected"
	// Elsewhere is what another shard decides; no report tells of it.
	Elsewhere = "elsewhere"
)

// Object is what was decided of one object. The JSON form is fixed: scripts
// read it.
type Object struct {
	// Source names what the objects are of, where the run was given a name for it.
	Source   string `json:"source,omitempty"`
	File     string `json:"file"`
	Document int    `json:"document"`
	Item     int    `json:"item"`
	Line     int    `json:"line"`
	Identity
	Operation   string   `json:"operation,omitempty"`
	Subresource string   `json:"subresource"`
	Verdict     string   `json:"verdict"`
	Cost        int64    `json:"cost"`
	Status      *Status  `json:"status,omitempty"`
	Causes      []Cause  `json:"causes"`
	Warnings    []string `json:"warnings"`
	// Problem says why an object is skipped, unreadable or undecided.
	Problem string `json:"problem,omitempty"`
	// Upgrade is what another CRD does to the object.
	Upgrade *Upgrade `json:"upgrade,omitempty"`
	// Known: a baseline has all that is wrong, so that it is no finding.
	Known bool `json:"known,omitempty"`
	// Strict are the places of unknown and duplicate fields, which have no
	// causes.
	Strict []Place `json:"strict,omitempty"`

	// Persisted is an accepted object as it is stored, where that was asked for,
	// and SelectableFields what field selectors find in it.
	Persisted        map[string]any    `json:"persisted,omitempty"`
	SelectableFields map[string]string `json:"selectableFields,omitempty"`

	// Diff is how what is stored differs from what was given.
	Diff []byte `json:"-"`
	// Row is what kubectl get shows of it.
	Row *Row `json:"-"`
	// Template is set where the whole file cannot be read; it counts once.
	Template bool `json:"-"`
	// Duplicate is true where Status is about duplicate keys in YAML: kubectl
	// does not print that, since it decodes YAML itself and keeps the last.
	Duplicate bool `json:"-"`
	// Bug is a failure of ours, not of the object.
	Bug error `json:"-"`
	// Explained is the work that finding the values took.
	Explained uint64 `json:"-"`
	// Limit is what an undecided object meets.
	Limit *engine.WorkLimitError `json:"-"`
	// Rules tells of each rule that ran, where that was asked for.
	Rules []engine.RuleResult `json:"-"`
	// Key tells objects apart: shards go by it. At is the place of the object in
	// all that was read.
	Key string `json:"-"`
	At  int64  `json:"-"`
}

// Identity is what names an object.
type Identity = input.Identity

// Status is the API server's answer to a refused object.
type Status struct {
	Code    int32  `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Cause is one reason for a refusal. Reason, Field and Message are exactly the
// API server's.
type Cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
	Rule    string `json:"rule,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	// Values are the values in the rule, where they were asked for.
	Values []Value `json:"values,omitempty"`
	// NotShown is why values are missing; "" if none are.
	NotShown string `json:"valuesNotShown,omitempty"`

	Ref     *engine.RuleRef `json:"-"`
	Excerpt Excerpt         `json:"-"`
}

// Place is where the cause stands.
func (c *Cause) Place() Place {
	return Place{File: c.File, Line: c.Line, Column: c.Column, Field: c.Field, Excerpt: c.Excerpt}
}

// Value is a part of a rule and its value as JSON, shortened.
type Value struct {
	Expr string `json:"expr"`
	Text string `json:"value"`
}

// Place is where something stands.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Field  string `json:"field"`
	// Message is the server's, where the place has one of its own.
	Message string  `json:"message,omitempty"`
	Excerpt Excerpt `json:"-"`
}

func (p Place) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Field)
}

// Summary counts the objects of a run.
type Summary struct {
	Checked    int `json:"checked"`
	Valid      int `json:"valid"`
	Invalid    int `json:"invalid"`
	Skipped    int `json:"skipped"`
	Unreadable int `json:"unreadable"`
	Undecided  int `json:"undecided,omitempty"`
	// Ignored counts the documents below folders that are no objects.
	Ignored int `json:"ignored,omitempty"`
	// Vanished counts the old objects that have no new one.
	Vanished int `json:"vanished,omitempty"`
	// Omitted counts the findings that the report leaves out.
	Omitted int `json:"omitted,omitempty"`
	// Interrupted is true when objects after these were not looked at.
	Interrupted bool `json:"interrupted,omitempty"`
	// Missing are the parts that a merged report lacks.
	Missing []string `json:"missing,omitempty"`
	// Baseline is where one was given.
	Baseline *BaselineSummary `json:"baseline,omitempty"`
	// CRDs counts those that objects are checked by, where they are judged.
	CRDs *CRDSummary `json:"crds,omitempty"`
	// Upgrade counts what another CRD does to the objects.
	Upgrade *UpgradeSummary `json:"upgrade,omitempty"`
	// Kinds and Rules are tables, where they were asked for.
	Kinds []KindRow `json:"kinds,omitempty"`
	Rules []RuleRow `json:"rules,omitempty"`

	// End is what only other runs want to know.
	End *PartEnd `json:"-"`
}

// BaselineSummary counts what a baseline says of a run.
type BaselineSummary struct {
	// Known counts objects and CRDs of which all that is wrong stands in it, and
	// Stale its entries that nothing has any more.
	Known int `json:"known"`
	Stale int `json:"stale"`
}

// Partial is what a report says that ended early.
const Partial = "interrupted: the report is of the objects before"

// Printer writes a report as objects are decided.
type Printer interface {
	// CRD comes before all objects.
	CRD(*CRD) error
	Object(*Object) error
	End(*Summary) error
}

// Options say how a report looks.
type Options struct {
	KubeVersion string
	// StrictKinds: an object without a CRD is a finding.
	StrictKinds bool
	Quiet       bool
	Verbose     bool
	// Version is Celadon's own.
	Version string
	// Colour and Width are the terminal's, for text; 0 is any width.
	Colour bool
	Width  int
	// Part makes JSON lines a report that can be merged; nil does not.
	Part *PartHead
	// Stderr is where the forms that hold objects tell of everything else.
	Stderr io.Writer
}

// Formats are the names that New knows.
const Formats = "text, wide, yaml, json, jsonl, junit, sarif or github"

// New makes the printer of a format. What steers a terminal, or who reads a log,
// does not get through, whatever the format.
func New(format string, to io.Writer, o Options) (Printer, error) {
	w := untrusted.NewWriter(to)
	switch format {
	case "text":
		w.Colours = o.Colour
		return &textPrinter{w: w, Options: o}, nil
	case "wide":
		return &widePrinter{w: w, rest: o.beside(), rows: map[*Table][]string{}}, nil
	case "yaml":
		return &yamlPrinter{w: w, rest: o.beside()}, nil
	case "json":
		return &jsonPrinter{w: w, kubeVersion: o.KubeVersion}, nil
	case "jsonl":
		if o.Part != nil {
			return &partPrinter{Encoder(w), o.Part}, nil
		}
		return &jsonLinesPrinter{w: w}, nil
	case "junit":
		return &junitPrinter{NewJUnit(w, "celadon check"), o.StrictKinds}, nil
	case "sarif":
		return &sarifPrinter{NewSARIF(w, o.Version), o.StrictKinds}, nil
	case "github":
		return &githubPrinter{w: w, strictKinds: o.StrictKinds}, nil
	}
	return nil, fmt.Errorf("--output %q: want %s", format, Formats)
}

// beside is a text report for stderr, which is wrapped for any reader.
func (o Options) beside() *textPrinter {
	to := o.Stderr
	if to == nil {
		to = io.Discard
	}
	o.Colour, o.Width = false, 0
	return &textPrinter{w: untrusted.NewWriter(to), Options: o}
}

// Finding is true for an object that fails the run.
func (o *Object) Finding(strictKinds bool) bool { return !o.Known && o.Wrong(strictKinds) }

// Wrong is true for an object that fails the run unless it is known.
func (o *Object) Wrong(strictKinds bool) bool {
	return o.Verdict == Invalid || o.Verdict == Skipped && strictKinds || o.Upgrade != nil && o.Upgrade.Finding()
}

func (o *Object) place() string { return o.inSource(o.placeInFile()) }

func (o *Object) placeInFile() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// inSource is a text about the object with its source, where it has one.
func (o *Object) inSource(text string) string {
	if o.Source == "" {
		return text
	}
	return o.Source + ": " + text
}

// Count counts an object.
func (s *Summary) Count(o *Object) {
	s.known(o.Known)
	switch o.Verdict {
	case Valid:
		s.Checked++
		s.Valid++
	case Invalid:
		s.Checked++
		s.Invalid++
	case Skipped:
		s.Skipped++
	case Unreadable:
		s.Unreadable++
	case Undecided:
		s.Undecided++
	case Ignored:
		s.Ignored++
	}
	if o.Upgrade != nil {
		if s.Upgrade == nil {
			s.Upgrade = &UpgradeSummary{}
		}
		s.Upgrade.Add(o.Upgrade)
	}
}

func (s *Summary) known(known bool) {
	if !known {
		return
	}
	if s.Baseline == nil {
		s.Baseline = &BaselineSummary{}
	}
	s.Baseline.Known++
}

// Lines returns the number of objects and CRDs that s counts.
func (s *Summary) Lines() int {
	n := s.Checked + s.Skipped + s.Unreadable + s.Undecided + s.Ignored
	if s.CRDs != nil {
		n += s.CRDs.Accepted + s.CRDs.Refused + s.CRDs.Undecided
	}
	return n
}

// CountCRD counts a CRD.
func (s *Summary) CountCRD(c *CRD) {
	s.known(c.Known)
	if s.CRDs == nil {
		s.CRDs = &CRDSummary{}
	}
	switch {
	case c.Bug != nil:
	case c.Undecided:
		s.CRDs.Undecided++
	case c.Accepted:
		s.CRDs.Accepted++
	default:
		s.CRDs.Refused++
	}
}
