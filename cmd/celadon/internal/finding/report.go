// Package finding defines the report of celadon check and writes it in the formats that people,
// scripts, and code-review pages read. See New for the formats.
package finding

import (
	"fmt"
	"io"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Verdicts of a report.
const (
	Valid      = "valid"
	Invalid    = "invalid"
	Skipped    = "skipped"
	Unreadable = "unreadable"
	// Undecided means that the object exceeds the work limit.
	Undecided = "undecided"
	// Ignored marks documents that are not objects. Only text reports mention them.
	Ignored = "ignored"
	// Unselected marks objects that the user did not select. They are not reported.
	Unselected = "unselected"
	// Elsewhere marks objects that another shard validates. They are not reported.
	Elsewhere = "elsewhere"
)

// Object is the result for an object. The JSON form is a published contract.
type Object struct {
	// Source names the origin of the objects, if the run has a name for it.
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
	// Problem is the reason why an object is skipped, unreadable, or undecided.
	Problem string `json:"problem,omitempty"`
	// Upgrade describes the effect of another CRD on the object.
	Upgrade *Upgrade `json:"upgrade,omitempty"`
	// Known is set if a baseline contains all errors of the object, so that they do not fail the
	// run.
	Known bool `json:"known,omitempty"`
	// Strict lists the positions of unknown and duplicate fields, which have no causes.
	Strict []Location `json:"strict,omitempty"`

	// Persisted is an accepted object as it would be stored, and SelectableFields the values for
	// field selectors. Both are set on request.
	Persisted        map[string]any    `json:"persisted,omitempty"`
	SelectableFields map[string]string `json:"selectableFields,omitempty"`

	// Diff shows how the persisted object differs from the input.
	Diff []byte `json:"-"`
	// Row is the object's row in kubectl get.
	Row *Row `json:"-"`
	// Template is set if the whole file cannot be decoded. The file counts as one object.
	Template bool `json:"-"`
	// Duplicate is set if Status is about duplicate keys in YAML. kubectl does not print such an
	// error, because it decodes YAML itself and keeps the last key.
	Duplicate bool `json:"-"`
	// Bug is an internal error.
	Bug error `json:"-"`
	// Explained is the work of computing the values in rules.
	Explained uint64 `json:"-"`
	// Limit is the limit that an undecided object exceeds.
	Limit *engine.WorkLimitError `json:"-"`
	// Rules has a result for each rule that ran, if requested.
	Rules []engine.RuleResult `json:"-"`
	// Key identifies the object; it determines the shard. At is the object's index in the whole
	// input.
	Key string `json:"-"`
	At  int64  `json:"-"`
}

// Identity holds the fields that identify an object.
type Identity = input.Identity

// Status is the API server's response to a rejected object.
type Status struct {
	Code    int32  `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Cause is a cause of a rejection. Reason, Field, and Message equal the API server's.
type Cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
	Rule    string `json:"rule,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	// Values are the values that the rule read, if requested.
	Values []Value `json:"values,omitempty"`
	// NotShown is the reason why Values is incomplete, or "".
	NotShown string `json:"valuesNotShown,omitempty"`

	Ref     *engine.RuleRef `json:"-"`
	Excerpt Excerpt         `json:"-"`
}

// Location returns the location of the cause.
func (c *Cause) Location() Location {
	return Location{File: c.File, Line: c.Line, Column: c.Column, Field: c.Field, Excerpt: c.Excerpt}
}

// Value is a subexpression of a rule with its value as shortened JSON.
type Value struct {
	Expr string `json:"expr"`
	Text string `json:"value"`
}

// Location is a position in a file, with the field there.
type Location struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Field  string `json:"field"`
	// Message is the server's message for this location, or "".
	Message string  `json:"message,omitempty"`
	Excerpt Excerpt `json:"-"`
}

func (p Location) String() string {
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
	// Ignored counts documents in folders that are not objects.
	Ignored int `json:"ignored,omitempty"`
	// Vanished counts old objects without a new version.
	Vanished int `json:"vanished,omitempty"`
	// Omitted counts findings that the report leaves out.
	Omitted int `json:"omitted,omitempty"`
	// Interrupted is set if the run stopped before the end of the input.
	Interrupted bool `json:"interrupted,omitempty"`
	// Missing lists the parts that a merged report lacks.
	Missing []string `json:"missing,omitempty"`
	// Baseline is set if a baseline was given.
	Baseline *BaselineSummary `json:"baseline,omitempty"`
	// CRDs counts the CRDs of the objects, if these are validated too.
	CRDs *CRDSummary `json:"crds,omitempty"`
	// Upgrade counts the effects of another CRD on the objects.
	Upgrade *UpgradeSummary `json:"upgrade,omitempty"`
	// Kinds and Rules are tables, filled on request.
	Kinds []KindRow `json:"kinds,omitempty"`
	Rules []RuleRow `json:"rules,omitempty"`

	// End holds data for merging reports.
	End *PartEnd `json:"-"`
}

// BaselineSummary counts the entries of a baseline.
type BaselineSummary struct {
	// Known counts objects and CRDs whose errors are all in the baseline. Stale counts entries that
	// no longer match anything.
	Known int `json:"known"`
	Stale int `json:"stale"`
}

// Partial is the message of an interrupted report.
const Partial = "interrupted: the report covers only the objects before"

// Printer writes a report while objects are validated.
type Printer interface {
	// CRD is called for each CRD, before the first Object.
	CRD(*CRD) error
	Object(*Object) error
	End(*Summary) error
}

// Options controls the content and style of a report.
type Options struct {
	KubeVersion string
	// StrictKinds makes an object without a CRD a finding.
	StrictKinds bool
	Quiet       bool
	Verbose     bool
	// Version is the version of Celadon.
	Version string
	// Color and Width apply to text on a terminal. Width 0 is unlimited.
	Color bool
	Width int
	// Part, if not nil, makes JSON lines a report that can be merged.
	Part *PartHead
	// Stderr receives findings in formats whose output consists of objects.
	Stderr io.Writer
}

// Formats lists the formats that New supports.
const Formats = "text, wide, yaml, json, jsonl, junit, sarif, or github"

// New returns the printer of a format. Every printer escapes characters that could control a
// terminal or mislead the reader of a log.
func New(format string, to io.Writer, o Options) (Printer, error) {
	w := untrusted.NewWriter(to)
	switch format {
	case "text":
		w.Colors = o.Color
		return &textPrinter{w: w, Options: o}, nil
	case "wide":
		return &widePrinter{w: w, rest: o.stderrPrinter(), rows: map[*Table][]string{}}, nil
	case "yaml":
		return &yamlPrinter{w: w, rest: o.stderrPrinter()}, nil
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

// stderrPrinter returns a text printer for stderr. The text is not wrapped.
func (o Options) stderrPrinter() *textPrinter {
	to := o.Stderr
	if to == nil {
		to = io.Discard
	}
	o.Color, o.Width = false, 0
	return &textPrinter{w: untrusted.NewWriter(to), Options: o}
}

// Finding reports whether the object fails the run.
func (o *Object) Finding(strictKinds bool) bool { return !o.Known && o.Wrong(strictKinds) }

// Wrong reports whether the object fails the run unless it is in the baseline.
func (o *Object) Wrong(strictKinds bool) bool {
	return o.Verdict == Invalid || o.Verdict == Skipped && strictKinds || o.Upgrade != nil && o.Upgrade.Finding()
}

func (o *Object) locationText() string { return o.inSource(o.locationInFile()) }

func (o *Object) locationInFile() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// inSource prefixes text with the object's source, if any.
func (o *Object) inSource(text string) string {
	if o.Source == "" {
		return text
	}
	return o.Source + ": " + text
}

// Count adds an object to the counts.
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

// CountCRD adds a CRD to the counts.
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
