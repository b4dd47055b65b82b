package finding

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/engine"
)

// How it works: runs that each check a part of the input, by shard or by cluster, write reports in
// JSON lines, which celadon merge combines. Each object is accompanied by its index in the whole
// input and by data that other formats need. The first line describes the run, and the last one how
// much was read; a report without the last line is truncated.

// PartLine is a line of such a report: the first line, a CRD, an object, or the last line.
type PartLine struct {
	Report  *PartHead `json:"report,omitempty"`
	CRD     *CRD      `json:"crd,omitempty"`
	Object  *Object   `json:"object,omitempty"`
	Part    *Part     `json:"part,omitempty"`
	Summary *Summary  `json:"summary,omitempty"`
	End     *PartEnd  `json:"end,omitempty"`
}

// PartHead describes the run of a report.
type PartHead struct {
	Kind        string `json:"kind"`
	APIVersion  string `json:"apiVersion"`
	KubeVersion string `json:"kubeVersion"`
	// Version is the version of Celadon.
	Version string `json:"version"`
	// Source names the origin of the objects; "" if there is only one.
	Source string `json:"source,omitempty"`
	Shard  Shard  `json:"shard"`
	// Sources is the number of sources; 0 if unknown.
	Sources int `json:"sources,omitempty"`
	// Run identifies the run, so that reports of other runs are not mixed in.
	Run string `json:"run,omitempty"`
	// Live is set if the input can change during the run, so that shards can see different states.
	Live bool `json:"live,omitempty"`
	// Flags lists the flags that affect verdicts or the report.
	Flags []string `json:"flags"`
	// CRDs is a digest of the CRDs that validate the objects.
	CRDs string `json:"crds"`
}

// Flags of a PartHead that affect merging.
const (
	StrictKinds   = "--strict-kinds"
	NoVet         = "--no-vet"
	WithPersisted = "--persisted"
	WithTables    = "--summary"
)

// Has reports whether the run has a flag.
func (h *PartHead) Has(flag string) bool { return slices.Contains(h.Flags, flag) }

// Shard is a part of a run. Index starts at 0. A run without shards is {0, 1}, so Of is at least 1;
// the zero value is not valid.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Kind and version of a report.
const (
	Kind       = "CheckReport"
	APIVersion = "celadon/v1"
)

// PartEnd holds data of a summary that is needed only for merging.
type PartEnd struct {
	// Documents is the number of documents that the run read, including those of other shards.
	// Input is a digest of their identities.
	Documents int64  `json:"documents"`
	Input     string `json:"input"`
	// Unselected counts the objects that were not selected.
	Unselected int `json:"unselected,omitempty"`
	// Problems lists other errors: CRDs and old objects that cannot be used.
	Problems []string `json:"problems,omitempty"`
	// Stale lists the baseline entries that no longer match anything.
	Stale []string `json:"stale,omitempty"`
	// Rules are the rules of the summary with full identity.
	Rules []PartRule `json:"rules,omitempty"`
}

// PartRule is a row of the rules' table with the rest of the rule's identity.
type PartRule struct {
	RuleRow
	APIVersion string `json:"apiVersion"`
	Version    string `json:"version"`
}

// Part holds data of an object or CRD that is needed only for merging.
type Part struct {
	At int64 `json:"at"`
	// Key is the object's key, if it differs from Called.
	Key    string      `json:"key,omitempty"`
	Causes []PartCause `json:"causes,omitempty"`
	Strict []Excerpt   `json:"strict,omitempty"`
	// Duplicate, Update, and Bug are the fields of Object and CRD. Limit is the rule of an
	// undecided object.
	Duplicate bool     `json:"duplicate,omitempty"`
	Update    bool     `json:"update,omitempty"`
	Bug       string   `json:"bug,omitempty"`
	Limit     *PartRef `json:"limit,omitempty"`
}

// PartCause holds data of a cause that is needed only for merging.
type PartCause struct {
	Ref     *PartRef `json:"ref,omitempty"`
	Excerpt *Excerpt `json:"excerpt,omitempty"`
}

// PartRef identifies a rule. Rule is omitted for a cause, which contains it.
type PartRef struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Rule    string `json:"rule,omitempty"`
}

// partPrinter writes JSON lines that can be merged.
type partPrinter struct {
	enc  *json.Encoder
	head *PartHead // nil after it is written
}

// write writes a line, preceded by the head if it is the first. The head is still incomplete when
// the printer is created.
func (p *partPrinter) write(l PartLine) error {
	if head := p.head; head != nil {
		p.head = nil
		if err := p.enc.Encode(PartLine{Report: head}); err != nil {
			return err
		}
	}
	return p.enc.Encode(l)
}

func (p *partPrinter) CRD(c *CRD) error {
	part := partOf(c.Causes, c.Strict, c.Bug)
	part.Update = c.Update
	return p.write(PartLine{CRD: c, Part: part})
}

func (p *partPrinter) Object(o *Object) error {
	part := partOf(o.Causes, o.Strict, o.Bug)
	part.At, part.Duplicate = o.At, o.Duplicate
	if o.Key != o.Called() {
		part.Key = o.Key
	}
	if o.Limit != nil {
		part.Limit = &PartRef{o.Limit.Rule.Version, o.Limit.Rule.Path, o.Limit.Rule.Index, o.Limit.Rule.Rule}
	}
	return p.write(PartLine{Object: o, Part: part})
}

func (p *partPrinter) End(s *Summary) error { return p.write(PartLine{Summary: s, End: s.End}) }

func partOf(causes []Cause, strict []Place, bug error) *Part {
	p := &Part{}
	for i := range causes {
		c := &causes[i]
		var one PartCause
		if c.Ref != nil {
			one.Ref = &PartRef{Version: c.Ref.Version, Path: c.Ref.Path, Index: c.Ref.Index}
		}
		if c.Excerpt != (Excerpt{}) {
			one.Excerpt = &c.Excerpt
		}
		p.Causes = append(p.Causes, one)
	}
	for i := range strict {
		p.Strict = append(p.Strict, strict[i].Excerpt)
	}
	if bug != nil {
		p.Bug = bug.Error()
	}
	return p
}

// Join restores the data that partPrinter moved to Part. It returns an error if the line cannot
// have been written by a run.
func (l *PartLine) Join() error {
	p := l.Part
	if l.CRD != nil {
		l.CRD.Update = p.Update
		return errors.Join(p.join(l.CRD.Causes, l.CRD.Strict, &l.CRD.Bug), l.CRD.sound())
	}
	o := l.Object
	o.At, o.Duplicate = p.At, p.Duplicate
	if o.Key = p.Key; o.Key == "" {
		o.Key = o.Called()
	}
	if p.Limit != nil {
		o.Limit = &engine.WorkLimitError{Rule: engine.RuleRef{Version: p.Limit.Version, Path: p.Limit.Path, Index: p.Limit.Index, Rule: p.Limit.Rule}}
	}
	return errors.Join(p.join(o.Causes, o.Strict, &o.Bug), o.sound())
}

func (p *Part) join(causes []Cause, strict []Place, bug *error) error {
	if len(p.Causes) != len(causes) || len(p.Strict) != len(strict) {
		return fmt.Errorf("part: %d causes and %d places (want %d and %d, as beside it)", len(p.Causes), len(p.Strict), len(causes), len(strict))
	}
	for i, one := range p.Causes {
		if one.Ref != nil {
			causes[i].Ref = &engine.RuleRef{Version: one.Ref.Version, Path: one.Ref.Path, Index: one.Ref.Index, Rule: causes[i].Rule}
		}
		if one.Excerpt != nil {
			causes[i].Excerpt = *one.Excerpt
		}
		if err := causes[i].Excerpt.sound(); err != nil {
			return err
		}
	}
	for i, e := range p.Strict {
		if strict[i].Excerpt = e; e.sound() != nil {
			return e.sound()
		}
	}
	if p.Bug != "" {
		*bug = errors.New(p.Bug)
	}
	return nil
}

func (e Excerpt) sound() error {
	if e.Index < 0 || e.Index > utf8.RuneCountInString(e.Line) {
		return fmt.Errorf("an excerpt of %d characters points at %d", utf8.RuneCountInString(e.Line), e.Index)
	}
	return nil
}

// Counts holds the numbers of a summary that can be recomputed from the lines of a report.
type Counts struct {
	checked, valid, invalid, skipped, unreadable, undecided, ignored, known int
	crds                                                                    CRDSummary
}

// Counts returns the numbers of s.
func (s *Summary) Counts() Counts {
	c := Counts{s.Checked, s.Valid, s.Invalid, s.Skipped, s.Unreadable, s.Undecided, s.Ignored, 0, CRDSummary{}}
	if s.CRDs != nil {
		c.crds = *s.CRDs
	}
	if s.Baseline != nil {
		c.known = s.Baseline.Known
	}
	return c
}

func (c Counts) String() string {
	return fmt.Sprintf("%d checked, %d valid, %d invalid, %d skipped, %d unreadable, %d undecided, %d ignored, %d known; of CRDs %d accepted, %d refused, %d undecided",
		c.checked, c.valid, c.invalid, c.skipped, c.unreadable, c.undecided, c.ignored, c.known, c.crds.Accepted, c.crds.Refused, c.crds.Undecided)
}
