package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// SARIF collects findings in one log, to be written at the end: a SARIF run
// names its rules before its results.
type SARIF struct {
	run   *sarif.Run
	rules map[string]bool
}

const home = "https://github.com/celadon-cel/celadon"

// NewSARIF starts a log; version is Celadon's own.
func NewSARIF(version string) *SARIF {
	run := sarif.NewRunWithInformationURI("celadon", home)
	run.WithColumnKind("unicodeCodePoints")
	run.Tool.Driver.WithVersion(version)
	return &SARIF{run: run, rules: map[string]bool{}}
}

// sarifPrinter is SARIF with objects' findings, rules as SARIF rules.
type sarifPrinter struct {
	*SARIF
	w           io.Writer
	strictKinds bool
}

func (p *sarifPrinter) Object(o *Object) error {
	whole := Place{File: o.File, Line: o.Line}
	switch {
	case o.Verdict == Unreadable:
		p.result(o, "unreadable", "What cannot be read as a Kubernetes object", "error", whole, o.Problem)
	case o.Verdict == Skipped && p.strictKinds:
		p.result(o, "skipped", "An object whose CRD was not given", "error", whole, o.Problem)
	case o.Verdict == Invalid && len(o.Causes) == 0:
		if len(o.Strict) > 0 {
			whole = o.Strict[0]
		}
		p.result(o, o.Status.Reason, "A request that the API server does not take", "error", whole, o.Status.Message)
	case o.Verdict == Invalid:
		for i := range o.Causes {
			p.cause(o, &o.Causes[i])
		}
	}
	if o.Upgrade != nil && o.Upgrade.Finding() {
		var b strings.Builder
		o.Upgrade.show(&b, o)
		p.result(o, "upgrade", "An object that an upgrade of its CRD affects", "error", whole, strings.TrimSpace(b.String()))
	}
	for _, warning := range o.Warnings {
		p.result(o, "warning", "A warning of the API server", "warning", whole, warning)
	}
	return nil
}

// cause is a result whose rule is the CEL rule, or else the server's reason.
func (p *sarifPrinter) cause(o *Object, c *Cause) {
	id, description := c.Reason, "A check of the API server: "+c.Reason
	if c.Ref != nil {
		group, _, _ := strings.Cut(o.APIVersion, "/")
		id = fmt.Sprintf("%s/%s/%s/%s[%d]", group, o.Kind, c.Ref.Version, c.Ref.Path, c.Ref.Index)
		description = c.Rule
	}
	at := Place{File: c.File, Line: c.Line, Column: c.Column, Field: c.Field, Excerpt: c.Excerpt}
	if c.Line == 0 {
		at = Place{File: o.File, Line: o.Line}
	}
	p.result(o, id, description, "error", at, o.title()+" is invalid: "+c.text())
}

func (p *sarifPrinter) result(o *Object, id, description, level string, at Place, message string) {
	p.Add(id, description, level, at, message, o.File, o.APIVersion, o.Kind, o.Namespace, o.Name)
}

func (p *sarifPrinter) End(s *Summary) error { return p.Write(p.w, s.Interrupted) }

// Add adds a finding; a level is error, warning or note. What it was found in
// has an identity, by which a code-scanning page knows the finding again when
// its line moved.
func (s *SARIF) Add(id, description, level string, at Place, message string, identity ...string) {
	if !s.rules[id] {
		s.rules[id] = true
		rule := s.run.AddRule(id)
		rule.WithShortDescription(sarif.NewMultiformatMessageString().WithText(description))
	}
	uri := url.URL{Path: filepath.ToSlash(at.File)}
	place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(uri.String()))
	if at.Line > 0 {
		region := sarif.NewRegion().WithStartLine(at.Line)
		if at.Column > 0 {
			region.WithStartColumn(at.Column)
		}
		if at.Excerpt.Line != "" {
			region.WithSnippet(sarif.NewArtifactContent().WithText(at.Excerpt.Line))
		}
		place.WithRegion(region)
	}
	result := sarif.NewRuleResult(id).WithLevel(level).WithMessage(sarif.NewTextMessage(message))
	result.WithRuleIndex(s.run.GetRuleIndex(id))
	result.AddLocation(sarif.NewLocationWithPhysicalLocation(place))
	result.WithPartialFingerprints(map[string]string{"celadon/v1": fingerprint(append(identity, id, at.Field))})
	s.run.AddResult(result)
}

func fingerprint(identity []string) string {
	sum := sha256.Sum256([]byte(strings.Join(identity, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Write writes the log.
func (s *SARIF) Write(w io.Writer, interrupted bool) error {
	s.run.AddInvocation(sarif.NewInvocation().WithExecutionSuccessful(!interrupted))
	report := sarif.NewReport()
	report.AddRun(s.run)
	var raw strings.Builder
	if err := report.Write(&raw); err != nil {
		return err
	}
	var log map[string]any
	if err := json.Unmarshal([]byte(raw.String()), &log); err != nil {
		return err
	}
	withoutDefaults(log)
	enc := Encoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(log)
}

// withoutDefaults drops what the library writes for all that is not set.
func withoutDefaults(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			withoutDefaults(item)
		}
	case map[string]any:
		for name, field := range v {
			list, isList := field.([]any)
			object, isObject := field.(map[string]any)
			empty := isList && len(list) == 0 && name != "results" || isObject && len(object) == 0
			if empty || field == float64(-1) {
				delete(v, name)
				continue
			}
			withoutDefaults(field)
		}
	}
}
