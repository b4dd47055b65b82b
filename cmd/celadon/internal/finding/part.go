package finding

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// Join restores the fields of the CRD or object of l that partPrinter moved to its
// part. It returns an error if the two do not belong together.
func (l *PartLine) Join() error {
	p := l.Part
	if c := l.CRD; c != nil {
		c.Update = p.Update
		if c.Refused() && c.Status == nil {
			return errors.New("crd: no status (want one if the CRD is rejected)")
		}
		return p.join(c.Causes, c.Strict, &c.Bug)
	}
	o := l.Object
	o.At, o.Duplicate, o.Key = p.At, p.Duplicate, cmp.Or(p.Key, o.Called())
	if p.Limit != nil {
		o.Limit = &engine.WorkLimitError{Rule: engine.RuleRef{Version: p.Limit.Version, Path: p.Limit.Path, Index: p.Limit.Index, Rule: p.Limit.Rule}}
	}
	if o.Verdict == Invalid && o.Status == nil {
		return errors.New("object: no status (want one if the object is rejected)")
	}
	return p.join(o.Causes, o.Strict, &o.Bug)
}

func (p *Part) join(causes []Cause, strict []Place, bug *error) error {
	if len(p.Causes) != len(causes) || len(p.Strict) != len(strict) {
		return fmt.Errorf("part: %d causes and %d strict errors (got %d and %d in the object or CRD)", len(p.Causes), len(p.Strict), len(causes), len(strict))
	}
	for i, one := range p.Causes {
		if one.Ref != nil {
			causes[i].Ref = &engine.RuleRef{Version: one.Ref.Version, Path: one.Ref.Path, Index: one.Ref.Index, Rule: causes[i].Rule}
		}
		if one.Excerpt != nil {
			causes[i].Excerpt = *one.Excerpt
		}
	}
	for i, e := range p.Strict {
		strict[i].Excerpt = e
	}
	if p.Bug != "" {
		*bug = errors.New(p.Bug)
	}
	return nil
}

// Check returns an error if h is not the first line of a part that this Celadon can
// merge.
func (h *PartHead) Check() error {
	switch {
	case h.Kind != Kind || h.APIVersion != APIVersion:
		return fmt.Errorf("kind %q, apiVersion %q (want %s and %s)", h.Kind, h.APIVersion, Kind, APIVersion)
	case h.Shard.Of < 1 || h.Shard.Of > MaxShards || h.Shard.Index < 0 || h.Shard.Index >= h.Shard.Of:
		return fmt.Errorf("shard: %s (want I/N, I from 0 to N-1 and N up to %d)", h.Shard, MaxShards)
	case h.Sources < 0 || h.Sources > MaxShards:
		return fmt.Errorf("sources: %d (want 0 to %d)", h.Sources, MaxShards)
	}
	return nil
}

// MaxShards is the largest number of shards of a run, and of its sources.
const MaxShards = 10_000

// maxSource is the largest length of the name of a source, in bytes: an ARN fits.
const maxSource = 512

// CheckSource returns an error if name cannot be the name of a source or a run.
func CheckSource(name string) error {
	bad := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/@", r))
	}
	switch {
	case name == "":
		return errors.New("want a name")
	case len(name) > maxSource:
		return fmt.Errorf("%d bytes: want no more than %d", len(name), maxSource)
	case strings.ContainsFunc(name, bad):
		return fmt.Errorf("%q: want letters, digits and - _ . : / @", name)
	}
	return nil
}
