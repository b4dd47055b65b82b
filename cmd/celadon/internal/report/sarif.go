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

// SARIF writes a log, each finding as it comes. The rules that findings refer to
// follow at the end: JSON objects have no order.
type SARIF struct {
	w       io.Writer
	run     *sarif.Run // without its results
	rules   map[string]int
	results int
}

const home = "https://github.com/celadon-cel/celadon"

// NewSARIF starts a log; version is Celadon's own.
func NewSARIF(w io.Writer, version string) *SARIF {
	run := sarif.NewRunWithInformationURI("celadon", home)
	run.WithColumnKind("unicodeCodePoints")
	run.Tool.Driver.WithVersion(version)
	return &SARIF{w: w, run: run, rules: map[string]int{}}
}

// sarifPrinter is SARIF of objects' findings, with CEL rules as its rules.
type sarifPrinter struct {
	*SARIF
	strictKinds bool
}

func (p *sarifPrinter) Object(o *Object) error {
	whole := Place{File: o.File, Line: o.Line}
	var err error
	switch {
	case o.Verdict == Unreadable:
		err = p.result(o, "unreadable", "What cannot be read as a Kubernetes object", "error", whole, o.Problem)
	case o.Verdict == Undecided:
		err = p.result(o, "undecided", "An object whose answer asks for more work than is done", "error", whole, o.title()+": "+string(o.undecidedText()))
	case o.Verdict == Skipped && p.strictKinds:
		err = p.result(o, "skipped", "An object whose CRD was not given", "error", whole, o.Problem)
	case o.Verdict == Invalid && len(o.Causes) == 0:
		if len(o.Strict) > 0 {
			whole = o.Strict[0]
		}
		err = p.result(o, o.Status.Reason, "A request that the API server does not take", "error", whole, o.Status.Message)
	case o.Verdict == Invalid:
		err = p.causes(o)
	}
	if err == nil && o.Upgrade != nil && o.Upgrade.Finding() {
		var b strings.Builder
		o.Upgrade.show(&b, o)
		err = p.result(o, "upgrade", "An object that an upgrade of its CRD affects", "error", whole, strings.TrimSpace(b.String()))
	}
	for _, warning := range o.Warnings {
		if err == nil {
			err = p.result(o, "warning", "A warning of the API server", "warning", whole, warning)
		}
	}
	return err
}

func (p *sarifPrinter) causes(o *Object) error {
	for i := range o.Causes {
		if err := p.cause(o, &o.Causes[i]); err != nil {
			return err
		}
	}
	return nil
}

// cause is a result whose rule is the CEL rule, or else the server's reason.
func (p *sarifPrinter) cause(o *Object, c *Cause) error {
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
	return p.result(o, id, description, "error", at, o.title()+" is invalid: "+c.text())
}

// text is the cause with its rule and the values in it.
func (c *Cause) text() string {
	text := c.Field + ": " + c.Message
	if c.Rule == "" {
		return text
	}
	text += "\nrule: " + c.Rule
	for _, v := range c.Values {
		text += "\n  " + v.Expr + ": " + v.Text
	}
	return text
}

func (p *sarifPrinter) result(o *Object, id, description, level string, at Place, message string) error {
	return p.Add(id, description, level, at, message, o.File, o.APIVersion, o.Kind, o.Namespace, o.Name)
}

func (p *sarifPrinter) End(s *Summary) error { return p.Close(s.Interrupted) }

// Add writes a finding; a level is error, warning or note. What it was found in
// has an identity, by which a code-scanning page knows the finding again when
// its line moved.
func (s *SARIF) Add(id, description, level string, at Place, message string, identity ...string) error {
	uri := url.URL{Path: filepath.ToSlash(at.File)}
	place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(uri.String()))
	if at.Line > 0 {
		region := sarif.NewRegion().WithStartLine(at.Line)
		if at.Column > 0 {
			region.WithStartColumn(at.Column)
		}
		place.WithRegion(region)
		if at.Excerpt.Line != "" {
			line := sarif.NewArtifactContent().WithText(at.Excerpt.Line)
			place.WithContextRegion(sarif.NewRegion().WithStartLine(at.Line).WithSnippet(line))
		}
	}
	result := sarif.NewRuleResult(id).WithLevel(level).WithMessage(sarif.NewTextMessage(message))
	result.WithRuleIndex(s.rule(id, description))
	result.AddLocation(sarif.NewLocationWithPhysicalLocation(place))
	result.WithPartialFingerprints(map[string]string{"celadon/v1": fingerprint(append(identity, id, at.Field))})
	return s.write(result)
}

// rule is the index of a rule, which is added where it is new.
func (s *SARIF) rule(id, description string) int {
	index, ok := s.rules[id]
	if !ok {
		index = len(s.rules)
		s.rules[id] = index
		s.run.AddRule(id).WithShortDescription(sarif.NewMultiformatMessageString().WithText(description))
	}
	return index
}

// write writes one result, and before the first what stands around them.
func (s *SARIF) write(result *sarif.Result) error {
	if s.results++; s.results == 1 {
		if err := s.begin(); err != nil {
			return err
		}
	} else if _, err := io.WriteString(s.w, ","); err != nil {
		return err
	}
	text, err := bare(result, "        ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "\n        %s", text)
	return err
}

func (s *SARIF) begin() error {
	log := sarif.NewReport()
	_, err := fmt.Fprintf(s.w, "{\n  \"$schema\": %q,\n  \"version\": %q,\n  \"runs\": [\n    {\n      \"results\": [", log.Schema, log.Version)
	return err
}

func fingerprint(identity []string) string {
	sum := sha256.Sum256([]byte(strings.Join(identity, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Close ends the log, which says so where the run was interrupted.
func (s *SARIF) Close(interrupted bool) error {
	end := "\n      ]"
	if s.results == 0 {
		if err := s.begin(); err != nil {
			return err
		}
		end = "]"
	}
	invocation := sarif.NewInvocation().WithExecutionSuccessful(!interrupted)
	if interrupted {
		invocation.AddToolExecutionNotification(sarif.NewNotification().WithLevel("error").WithMessage(sarif.NewTextMessage(Partial)))
	}
	s.run.AddInvocation(invocation)
	rest, err := bare(s.run, "    ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "%s,%s\n  ]\n}\n", end, strings.TrimPrefix(rest, "{"))
	return err
}

// bare is v as JSON, without what the library writes for all that is not set.
func bare(v any, prefix string) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return "", err
	}
	withoutDefaults(fields)
	var b strings.Builder
	enc := Encoder(&b)
	enc.SetIndent(prefix, "  ")
	err = enc.Encode(fields)
	return strings.TrimSuffix(b.String(), "\n"), err
}

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
			if isList && len(list) == 0 || isObject && len(object) == 0 || field == float64(-1) {
				delete(v, name)
				continue
			}
			withoutDefaults(field)
		}
	}
}
