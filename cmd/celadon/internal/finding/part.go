package finding

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/engine"
)

// How it works: what is checked in parts, by shards or cluster by cluster, leaves a
// report each, in JSON lines, that celadon merge makes one of. Beside each object
// stands where in the whole input it was and what only other forms show. The first
// line says what run it was, the last how much was read: a report without its last
// line was cut off.

// PartLine is a line of such a report: the first, one of a CRD or an object, or the
// last.
type PartLine struct {
	Report  *PartHead `json:"report,omitempty"`
	CRD     *CRD      `json:"crd,omitempty"`
	Object  *Object   `json:"object,omitempty"`
	Part    *Part     `json:"part,omitempty"`
	Summary *Summary  `json:"summary,omitempty"`
	End     *PartEnd  `json:"end,omitempty"`
}

// PartHead says what run a report is of.
type PartHead struct {
	Kind        string `json:"kind"`
	APIVersion  string `json:"apiVersion"`
	KubeVersion string `json:"kubeVersion"`
	// Version is Celadon's own.
	Version string `json:"version"`
	// Source names what the objects are of; "" where there is only one.
	Source string `json:"source,omitempty"`
	Shard  Shard  `json:"shard"`
	// Sources is how many there are; 0 is not known.
	Sources int `json:"sources,omitempty"`
	// Run names the run, so that a report of another is not taken for one of this.
	Run string `json:"run,omitempty"`
	// Live: the input changes under the run, so that shards see not quite the same.
	Live bool `json:"live,omitempty"`
	// Flags are those that make another verdict or another report.
	Flags []string `json:"flags"`
	// CRDs is a digest of what objects are decided by.
	CRDs string `json:"crds"`
}

// Flags of a head that matter to other reports.
const (
	StrictKinds   = "--strict-kinds"
	NoVet         = "--no-vet"
	WithPersisted = "--persisted"
	WithTables    = "--summary"
)

// Has is true of a run with a flag.
func (h *PartHead) Has(flag string) bool { return slices.Contains(h.Flags, flag) }

// Shard is a part of a run. The zero one is the first of none: Of is at least 1.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// The kind and version of a report.
const (
	Kind       = "CheckReport"
	APIVersion = "celadon/v1"
)

// PartEnd is what of a part's end no other form shows.
type PartEnd struct {
	// Documents is how many the run read, those of other shards too, and Input a
	// digest of what they are.
	Documents int64  `json:"documents"`
	Input     string `json:"input"`
	// Unselected counts the objects that were not asked for.
	Unselected int `json:"unselected,omitempty"`
	// Problems are what else is wrong: CRDs and old objects that cannot be used.
	Problems []string `json:"problems,omitempty"`
	// Stale are the lines of the baseline that nothing has any more.
	Stale []string `json:"stale,omitempty"`
	// Rules are those of the summary, told apart.
	Rules []PartRule `json:"rules,omitempty"`
}

// PartRule is a row of a table and what else tells its rule from others.
type PartRule struct {
	RuleRow
	APIVersion string `json:"apiVersion"`
	Version    string `json:"version"`
}

// Part is what of an object or a CRD only other forms show.
type Part struct {
	At int64 `json:"at"`
	// Key is what shards tell the object by, where that is not Called.
	Key    string      `json:"key,omitempty"`
	Causes []PartCause `json:"causes,omitempty"`
	Strict []Excerpt   `json:"strict,omitempty"`
	// Duplicate, Update and Bug are those of Object and CRD; Limit is the rule of an
	// undecided object.
	Duplicate bool     `json:"duplicate,omitempty"`
	Update    bool     `json:"update,omitempty"`
	Bug       string   `json:"bug,omitempty"`
	Limit     *PartRef `json:"limit,omitempty"`
}

// PartCause is what of a cause only other forms show.
type PartCause struct {
	Ref     *PartRef `json:"ref,omitempty"`
	Excerpt *Excerpt `json:"excerpt,omitempty"`
}

// PartRef is where a rule stands. The rule of a cause is there already.
type PartRef struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Rule    string `json:"rule,omitempty"`
}

// partPrinter writes JSON lines that can be merged.
type partPrinter struct {
	enc  *json.Encoder
	head *PartHead // nil once it is written
}

// write writes a line, and before it the first: what that says is not known when the
// printer is made.
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

// Join puts together what partPrinter took apart. Its error says what no run
// writes.
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

// Counts is what of a summary can be counted again.
type Counts struct {
	checked, valid, invalid, skipped, unreadable, undecided, ignored, known int
	crds                                                                    CRDSummary
}

// Counts are those of the summary.
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
