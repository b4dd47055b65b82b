package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
)

// SARIF writes a log, each finding as it comes. The rules that findings refer to
// follow at the end: JSON objects have no order.
type SARIF struct {
	w       io.Writer
	run     sarifRun // without its results
	rules   map[string]int
	results int
	known   bool   // what comes is suppressed
	lacks   string // what a log lacks that is not interrupted
}

const home = "https://github.com/celadon-cel/celadon"

// NewSARIF starts a log; version is Celadon's own.
func NewSARIF(w io.Writer, version string) *SARIF {
	driver := sarifDriver{InformationURI: home, Name: "celadon", Version: version}
	return &SARIF{
		w:     w,
		run:   sarifRun{ColumnKind: "unicodeCodePoints", Tool: sarifTool{Driver: driver}},
		rules: map[string]int{},
	}
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
		err = p.result(o, "upgrade", "An object that an upgrade of its CRD affects", "error", whole, o.Upgraded())
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
	identity := []string{o.File, o.APIVersion, o.Kind, o.Namespace, o.Name}
	if o.Source != "" {
		identity = append(identity, o.Source)
	}
	if p.known = o.Known && level == "error"; o.Source != "" {
		message = o.inSource(message)
	}
	return p.Add(id, description, level, at, message, identity...)
}

func (p *sarifPrinter) End(s *Summary) error {
	p.lacks = s.lacks()
	return p.Close(s.Interrupted)
}

// Add writes a finding; a level is error, warning or note. What it was found in
// has an identity, by which a code-scanning page knows the finding again when
// its line moved.
func (s *SARIF) Add(id, description, level string, at Place, message string, identity ...string) error {
	uri := url.URL{Path: filepath.ToSlash(at.File)}
	place := sarifPhysical{ArtifactLocation: sarifArtifact{URI: uri.String()}}
	if at.Line > 0 {
		place.Region = &sarifRegion{StartLine: at.Line, StartColumn: at.Column}
		if at.Excerpt.Line != "" {
			place.ContextRegion = &sarifRegion{StartLine: at.Line, Snippet: &sarifText{at.Excerpt.Line}}
		}
	}
	var suppressions []sarifSuppression
	if s.known {
		suppressions = []sarifSuppression{{Kind: "external", Justification: known}}
	}
	return s.write(&sarifResult{
		Suppressions:        suppressions,
		Level:               level,
		Locations:           []sarifLocation{{place}},
		Message:             sarifText{message},
		PartialFingerprints: map[string]string{"celadon/v1": fingerprint(append(identity, id, at.Field))},
		RuleID:              id,
		RuleIndex:           s.rule(id, description),
	})
}

// rule is the index of a rule, which is added where it is new.
func (s *SARIF) rule(id, description string) int {
	index, ok := s.rules[id]
	if !ok {
		index = len(s.rules)
		s.rules[id] = index
		s.run.Tool.Driver.Rules = append(s.run.Tool.Driver.Rules, sarifRule{id, sarifText{description}})
	}
	return index
}

// write writes one result, and before the first what stands around them.
func (s *SARIF) write(result *sarifResult) error {
	if s.results++; s.results == 1 {
		if err := s.begin(); err != nil {
			return err
		}
	} else if _, err := io.WriteString(s.w, ","); err != nil {
		return err
	}
	text, err := indented(result, "        ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "\n        %s", text)
	return err
}

func (s *SARIF) begin() error {
	_, err := fmt.Fprintf(s.w, "{\n  \"$schema\": %q,\n  \"version\": %q,\n  \"runs\": [\n    {\n      \"results\": [", sarifSchema, sarifVersion)
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
	why := s.lacks
	if interrupted {
		why = Partial
	}
	invocation := sarifInvocation{ExecutionSuccessful: why == ""}
	if why != "" {
		invocation.Notifications = []sarifNotification{{"error", sarifText{why}}}
	}
	s.run.Invocations = []sarifInvocation{invocation}
	rest, err := indented(s.run, "    ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "%s,%s\n  ]\n}\n", end, strings.TrimPrefix(rest, "{"))
	return err
}

// indented is v as JSON whose first line stands behind the prefix.
func indented(v any, prefix string) (string, error) {
	var b strings.Builder
	enc := Encoder(&b)
	enc.SetIndent(prefix, "  ")
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
