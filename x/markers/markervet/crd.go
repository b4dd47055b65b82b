package markervet

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/analysis/lint"
	"github.com/celadon-cel/celadon/x/markers"
)

// CRD is a CRD with its vet report and the markers of its rules.
type CRD struct {
	crd    *apiextensionsv1.CustomResourceDefinition
	report *vet.Report
	lints  []lint.Lint
	show   func(*lint.Lint) []string
	src    *markers.Source
	m      *markers.Map
	over   map[string]*vet.Rule // rules that are too expensive, by their field
}

// New maps the rules of a CRD to markers of src. lints are the lints of the CRD. show returns lines
// that illustrate a lint; it may be nil.
func New(src *markers.Source, crd *apiextensionsv1.CustomResourceDefinition, report *vet.Report, lints []lint.Lint, show func(*lint.Lint) []string) *CRD {
	c := &CRD{crd, report, lints, show, src, src.Map(crd), map[string]*vet.Rule{}}
	for i := range report.Versions {
		for j := range report.Versions[i].Rules {
			if r := &report.Versions[i].Rules[j]; r.OverLimit && r.Reason != nil && c.over[r.Field] == nil {
				c.over[r.Field] = r
			}
		}
	}
	return c
}

// Map returns the CRD's rules and their markers.
func (c *CRD) Map() *markers.Map { return c.m }

// Find returns all findings of CRDs that were generated from src, except for the lints of package
// markers in without.
func Find(src *markers.Source, crds []*CRD, without []string) []Finding {
	all := &findings{at: map[key]int{}, reported: map[pathKey]bool{}}
	for i, c := range crds {
		c.find(all, i, without)
	}
	for _, l := range src.Lints() {
		if !slices.Contains(without, l.Name) {
			all.add(Finding{
				ID: l.Name, Description: descriptions[l.Name], Level: Warning, Message: l.Message, Rule: l.Marker.Rule(),
				Position: l.Position, Line: l.Marker.Line(), Of: fieldOf(l.Marker),
			})
		}
	}
	return all.sorted()
}

var descriptions = map[string]string{
	markers.RuleWithoutMarker: "A rule of a CRD without a marker",
	markers.MarkerWithoutRule: "A marker whose rule is in no CRD",
	markers.UnusedMarker:      "A marker that generators ignore",
	markers.CutShort:          "A marker that generators read only in part",
	markers.TypographicQuotes: "Quotes that gofmt turns into others",
	markers.IgnoredMarker:     "A comment that looks like a marker, which generators ignore",
}

func fieldOf(m *markers.Marker) string {
	if m.Field == "" {
		return m.Type
	}
	return m.Type + "." + m.Field
}

func (c *CRD) find(all *findings, index int, without []string) {
	c.causes(all, index)
	for _, w := range c.report.Warnings {
		c.schema(all, Finding{ID: "warning", Description: "A warning of the API server", Level: Warning, Message: w, CRD: index}, "")
	}
	for i := range c.lints {
		l := &c.lints[i]
		f := Finding{
			ID: l.Name, Description: "An accepted definition that causes problems later", Level: Warning, Message: l.Message, Rule: l.Rule, CRD: index, Lint: &l.Lint,
		}
		if c.show != nil {
			f.Shown = c.show(l)
		}
		if l.Rule == "" {
			c.schema(all, f, l.Field)
			continue
		}
		c.rule(all, f, l.Field, "rule", 1, 1, ObjectPath{c.report.Name, l.Version, l.Path})
	}
	for i := range c.report.Versions {
		v := &c.report.Versions[i]
		for _, a := range v.Advice {
			c.advice(all, index, v, a)
		}
	}
	if !slices.Contains(without, markers.RuleWithoutMarker) {
		c.unmarked(all, index)
	}
}

func (c *CRD) causes(all *findings, index int) {
	if s := c.report.Status; s != nil && len(c.report.Causes) == 0 {
		f := Finding{ID: string(s.Reason), Description: "A request that the API server cannot process", Level: Error, Message: s.Message, CRD: index}
		if at := c.report.Panic; at != nil {
			part, _, _ := location(at)
			f.Message, f.Rule = s.Message+" "+at.Message, at.Rule.Rule
			c.rule(all, f, at.Field, part, 1, 1, ObjectPath{c.report.Name, at.Rule.Version, at.Rule.Path})
		} else {
			c.schema(all, f, "")
		}
	}
	if c.report.Undecided != nil {
		c.schema(all, Finding{ID: "undecided", Description: "A CRD that exceeds the work limit", Level: Error, Message: c.report.Undecided.Error(), CRD: index}, "")
	}
	for i := range c.report.Causes {
		cause := &c.report.Causes[i]
		f := Finding{ID: string(cause.Reason), Description: "A check of the API server: " + string(cause.Reason), Level: Error, Message: cause.Message, CRD: index, Kind: cause.Kind}
		if cause.Rule == nil {
			c.schema(all, f, cause.Field)
			continue
		}
		if cause.Kind == engine.CauseShareOfCost && c.moreOf(cause) {
			continue
		}
		f.Rule, f.Shown = cause.Rule.Rule, c.why(cause)
		if cause.Detail != "" { // the message repeats the whole rule as JSON
			f.Message = cause.Detail
		}
		part, line, column := location(cause)
		if line > 0 {
			f.Message = part + " does not compile: " + (&engine.CompileError{Detail: cause.Detail}).Summary()
		}
		c.rule(all, f, cause.Field, part, max(1, line), max(1, column), ObjectPath{c.report.Name, cause.Rule.Version, cause.Rule.Path})
	}
}

// moreOf reports whether the rule of the cause also has a cause of another kind, such as a limit of its own.
func (c *CRD) moreOf(cause *engine.Cause) bool {
	return slices.ContainsFunc(c.report.Causes, func(o engine.Cause) bool { return o.Field == cause.Field && o.Kind != engine.CauseShareOfCost })
}

var compilerPosition = regexp.MustCompile(`<input>:([0-9]+):([0-9]+):`)

// location returns the field of the rule that a cause is about, and the position of a compile error
// in it. The line is 0 if the cause is about the whole rule.
func location(cause *engine.Cause) (part string, line, column int) {
	part = cause.Field[strings.LastIndexByte(cause.Field, '.')+1:]
	if found := compilerPosition.FindStringSubmatch(cause.Detail); found != nil {
		line, _ = strconv.Atoi(found[1])
		column, _ = strconv.Atoi(found[2])
	}
	return part, line, column
}

// Cause returns the Go position of a cause of the report, and its line of source. ok is false if it is unknown.
func (c *CRD) Cause(i int) (at markers.Position, line string, ok bool) {
	cause := &c.report.Causes[i]
	if cause.Rule == nil {
		return c.Schema(cause.Field)
	}
	part, row, column := location(cause)
	markers := c.markers(cause.Field)
	if len(markers) == 0 {
		return at, "", false
	}
	return markers[0].At(part, max(1, row), max(1, column)), markers[0].Line(), true
}

// Position returns the Go position of a rule or schema of the CRD.
func (c *CRD) Position(field string) (at markers.Position, line string, ok bool) {
	if markers := c.markers(field); len(markers) > 0 {
		return markers[0].At("rule", 1, 1), markers[0].Line(), true
	}
	return c.Schema(field)
}

// Schema returns the position of the Go field or type of a schema, or of its nearest parent.
func (c *CRD) Schema(field string) (at markers.Position, line string, ok bool) {
	for field = vet.Place(field); strings.Contains(field, ".openAPIV3Schema"); field = field[:max(0, strings.LastIndexAny(field, ".["))] {
		if b := c.src.Bound(c.crd, field); b != nil {
			return b.Position, b.Line, true
		}
	}
	return at, "", false
}

const sharedSchema = "spec.validation.openAPIV3Schema"

// rules returns the mapped rules for a path. A schema that all versions share has one rule per version.
func (c *CRD) rules(field string) (all []*markers.Rule) {
	fields := []string{field}
	if rest, ok := strings.CutPrefix(field, sharedSchema); ok {
		fields = nil
		for i := range c.crd.Spec.Versions {
			fields = append(fields, fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema%s", i, rest))
		}
	}
	for _, field := range fields {
		if r := c.m.Rule(field); r != nil {
			all = append(all, r)
		}
	}
	return all
}

func (c *CRD) markers(field string) (all []*markers.Marker) {
	for _, r := range c.rules(field) {
		if r.Marker != nil && !slices.Contains(all, r.Marker) {
			all = append(all, r.Marker)
		}
	}
	return all
}

func (c *CRD) rule(all *findings, f Finding, field, part string, line, column int, path ObjectPath) {
	markers := c.markers(field)
	if len(markers) == 0 {
		f.Field = field
		f.Near, _, _ = c.Schema(field)
		all.add(f, path)
	}
	for _, m := range markers {
		at := f
		at.Position, at.Line, at.Of, at.CRD = m.At(part, line, column), m.Line(), fieldOf(m), 0
		if r := c.m.Rule(vet.Place(field)); r != nil && r.Marker == m && len(r.Others) > 0 {
			other := r.Others[0].Position()
			at.Shown = append(slices.Clip(at.Shown), fmt.Sprintf("the rule may also come from the marker at %s:%d", other.File, other.Line))
		}
		all.add(at, path)
	}
}

func (c *CRD) schema(all *findings, f Finding, field string) {
	at, line, ok := c.Schema(field)
	if ok {
		f.Position, f.Line, f.CRD = at, line, 0
	} else {
		f.Field = field
	}
	all.add(f, ObjectPath{CRD: c.report.Name, Path: field})
}

func (c *CRD) advice(all *findings, index int, v *vet.Version, a vet.Advice) {
	path := ObjectPath{c.report.Name, v.Name, a.Path}
	if b := c.src.Bound(c.crd, vet.Place(a.Field)); b != nil {
		all.advice(b, a, v.Fixable, path)
		return
	}
	all.add(Finding{
		ID: "advice", Description: "A bound that makes rules fit", Level: Note, CRD: index, Field: a.Field,
		Message: fmt.Sprintf("%s: %s: %d makes all rules fit; it has no field or type of its own in these packages: give it a named type", phrase.Path(a.Path), a.Set, a.Value),
	}, path)
}

func (c *CRD) why(cause *engine.Cause) (lines []string) {
	if r := c.over[cause.Field[:strings.LastIndexByte(cause.Field, '.')]]; r != nil {
		cost, share := max(r.EstimatedTotal, r.MessageExpressionCost), "a large part of a sum over its limit"
		if cost > r.Limit {
			share = "over the limit of " + phrase.Number(r.Limit)
		}
		lines = append(lines, fmt.Sprintf("it costs %s, %s; most of it in: %s", phrase.Number(cost), share, r.Reason.Expression))
		for _, m := range r.Reason.Missing {
			lines = append(lines, fmt.Sprintf("%s has no %s: %s assumed", phrase.Path(m.Path), m.Set, phrase.Number(uint64(m.Assumed))))
		}
		lines = append(lines, r.Reason.Notes...)
	}
	return lines
}

func (c *CRD) unmarked(all *findings, index int) {
	if !c.m.Rooted {
		return // other packages declare the kind
	}
	for _, v := range c.report.Versions {
		for i := range v.Rules {
			r := &v.Rules[i]
			// If a package could not be read, it may contain the marker.
			if slices.ContainsFunc(c.rules(r.Field), func(m *markers.Rule) bool { return m.Marker != nil || m.Missing != "" }) {
				continue
			}
			near, _, _ := c.Schema(r.Field)
			all.add(Finding{
				ID: markers.RuleWithoutMarker, Near: near, Description: descriptions[markers.RuleWithoutMarker], Level: Warning, Rule: r.Rule, CRD: index, Field: r.Field,
				Message: "no marker in these packages has this rule: regenerate the CRD, or write the rule where its type is declared",
			}, ObjectPath{c.report.Name, v.Name, r.Path})
		}
	}
}
