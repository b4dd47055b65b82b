package finding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// How it works: runs that each check a part of the input, by shard or by source, write reports in JSON lines,
// which celadon merge combines. Each object is accompanied by its index in the input and by data that other
// formats need. The first line describes the run, and the last line the amount that was read; a report without the
// last line is truncated.

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
	// Source names the origin of the objects; "" if the run has a single source.
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
	// CRDs is a digest of the CRDs and policies that validate the objects.
	CRDs string `json:"crds"`
}

// Flags of a PartHead that affect merging.
const (
	StrictKinds   = "--strict-kinds"
	NoVet         = "--no-vet"
	WithPersisted = "--persisted"
	WithTables    = "--summary"
)

// Has reports whether h.Flags contains flag.
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
	// Documents is the number of documents that the run read, including documents of other shards.
	// Input is a digest of their identities.
	Documents int64  `json:"documents"`
	Input     string `json:"input"`
	// Unselected counts the objects that were not selected.
	Unselected int `json:"unselected,omitempty"`
	// Problems lists other errors, such as CRDs, policies, and old objects that cannot be used.
	Problems []string `json:"problems,omitempty"`
	// Stale lists the lines of the baseline whose findings occurred less often than their count.
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
	// Following belongs to Object.Following.
	Following []PartCause `json:"following,omitempty"`
	// Duplicate, Update, Resource, and Bug are the fields of Object and CRD. Limit is the rule of an undecided object.
	Duplicate bool     `json:"duplicate,omitempty"`
	Update    bool     `json:"update,omitempty"`
	Resource  string   `json:"resource,omitempty"`
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

// Join restores the fields of the CRD or object of l that package print moved to its part. It returns an error if
// the two do not belong together, or if a rejection has no status.
func (l *PartLine) Join() error {
	p := l.Part
	if c := l.CRD; c != nil {
		c.Update = p.Update
		if c.Rejected() && c.Status == nil {
			return errors.New("crd: no status (want a status if the CRD is rejected)")
		}
		return p.join(c.Causes, c.Strict, &c.Bug)
	}
	o := l.Object
	o.At, o.Duplicate, o.Resource, o.Key = p.At, p.Duplicate, p.Resource, cmp.Or(p.Key, o.Called())
	if p.Limit != nil {
		o.Limit = &engine.WorkLimitError{Rule: engine.RuleRef{Version: p.Limit.Version, Path: p.Limit.Path, Index: p.Limit.Index, Rule: p.Limit.Rule}}
	}
	if o.Verdict == Invalid && o.Status == nil {
		return errors.New("object: no status (want a status if the object is rejected)")
	}
	if len(p.Following) > len(o.Following) {
		return fmt.Errorf("part: %d causes that would follow (got %d in the object)", len(p.Following), len(o.Following))
	}
	joinCauses(p.Following, o.Following)
	return p.join(o.Causes, o.Strict, &o.Bug)
}

func (p *Part) join(causes []Cause, strict []Location, bug *error) error {
	if len(p.Causes) != len(causes) || len(p.Strict) != len(strict) {
		return fmt.Errorf("part: %d causes and %d strict errors (got %d and %d in the object or CRD)", len(p.Causes), len(p.Strict), len(causes), len(strict))
	}
	joinCauses(p.Causes, causes)
	for i, e := range p.Strict {
		strict[i].Excerpt = e
	}
	if p.Bug != "" {
		*bug = errors.New(p.Bug)
	}
	return nil
}

// joinCauses restores the fields of causes. parts must not be longer than causes.
func joinCauses(parts []PartCause, causes []Cause) {
	for i, one := range parts {
		if one.Ref != nil {
			causes[i].Ref = &engine.RuleRef{Version: one.Ref.Version, Path: one.Ref.Path, Index: one.Ref.Index, Rule: causes[i].Rule}
		}
		if one.Excerpt != nil {
			causes[i].Excerpt = *one.Excerpt
		}
	}
}

// Check returns an error if h cannot be the first line of a part.
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

var sourceName = lazy.New(`^[A-Za-z0-9_.:/@-]+$`)

// CheckSource returns an error if name cannot be the name of a source or a run.
func CheckSource(name string) error {
	switch {
	case name == "":
		return errors.New("want a name")
	case len(name) > maxSource:
		return fmt.Errorf("too long (got %d bytes, want at most %d)", len(name), maxSource)
	case !sourceName.MatchString(name):
		return fmt.Errorf("%q: want letters, digits and - _ . : / @", name)
	}
	return nil
}

// InSource prefixes text with the name of a source, if there is one.
func InSource(source, text string) string {
	if source == "" {
		return text
	}
	return source + ": " + text
}

// CRD is the API server's verdict on a CRD that validates objects. The JSON form is a published contract.
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
	// Strict lists the positions of errors without causes, such as unknown and duplicate fields.
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

// CRDSummary counts the CRDs of a run by verdict. A CRD with an internal error is not counted.
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

// KubeVersion is the verdict of a Kubernetes minor version on a CRD. The JSON form is a published contract.
type KubeVersion struct {
	Version       string             `json:"version"`
	Accepted      bool               `json:"accepted"`
	EstimatedCost uint64             `json:"estimatedCost"`
	Causes        []KubeVersionCause `json:"causes"`
}

// KubeVersionCause is a cause of a rejection.
type KubeVersionCause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// NewKubeVersion returns v for a report.
func NewKubeVersion(v vet.KubeVersion) KubeVersion {
	one := KubeVersion{v.Version, v.Accepted, v.EstimatedCost, []KubeVersionCause{}}
	for _, c := range v.Causes {
		one.Causes = append(one.Causes, KubeVersionCause{string(c.Reason), c.Field, c.Message})
	}
	return one
}
