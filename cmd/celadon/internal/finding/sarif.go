package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
)

// SARIF writes a log. Each result is written immediately. The rules to which results refer follow
// at the end, because JSON objects are unordered.
type SARIF struct {
	w       io.Writer
	run     sarifRun // without its results
	rules   map[string]int
	results int
	known   bool   // the next results are suppressed
	lacks   string // parts that a merged report lacks
}

const home = "https://github.com/celadon-cel/celadon"

// NewSARIF returns a SARIF. version is the version of Celadon.
func NewSARIF(w io.Writer, version string) *SARIF {
	driver := sarifDriver{InformationURI: home, Name: "celadon", Version: version}
	return &SARIF{
		w:     w,
		run:   sarifRun{ColumnKind: "unicodeCodePoints", Tool: sarifTool{Driver: driver}},
		rules: map[string]int{},
	}
}

// sarifPrinter writes the findings of objects. The rules of the log are CEL rules and the server's
// checks.
type sarifPrinter struct {
	*SARIF
	strictKinds bool
}

func (p *sarifPrinter) Object(o *Object) error {
	identity := []string{o.File, o.APIVersion, o.Kind, o.Namespace, o.Name}
	if o.Source != "" {
		identity = append(identity, o.Source)
	}
	for f := range o.findings(p.strictKinds) {
		text := f.Text
		if p.known = o.Known && f.Level == "error"; o.Source != "" {
			text = o.inSource(text)
		}
		if err := p.Add(f.ID, f.Description, f.Level, f.At, text, identity...); err != nil {
			return err
		}
	}
	return nil
}

func (p *sarifPrinter) End(s *Summary) error {
	p.lacks = s.lacks()
	return p.Close(s.Interrupted)
}

// Add writes a result. level is error, warning, or note. identity identifies the object with the
// finding, so that a code-scanning page can track the finding when its line moves.
func (s *SARIF) Add(id, description, level string, at Location, message string, identity ...string) error {
	uri := url.URL{Path: filepath.ToSlash(at.File)}
	location := sarifPhysical{ArtifactLocation: sarifArtifact{URI: uri.String()}}
	if at.Line > 0 {
		location.Region = &sarifRegion{StartLine: at.Line, StartColumn: at.Column}
		if at.Excerpt.Line != "" {
			location.ContextRegion = &sarifRegion{StartLine: at.Line, Snippet: &sarifText{at.Excerpt.Line}}
		}
	}
	var suppressions []sarifSuppression
	if s.known {
		suppressions = []sarifSuppression{{Kind: "external", Justification: known}}
	}
	return s.write(&sarifResult{
		Suppressions:        suppressions,
		Level:               level,
		Locations:           []sarifLocation{{location}},
		Message:             sarifText{message},
		PartialFingerprints: map[string]string{"celadon/v1": fingerprint(append(identity, id, at.Field))},
		RuleID:              id,
		RuleIndex:           s.rule(id, description),
	})
}

// rule returns the index of a rule, adding it if necessary.
func (s *SARIF) rule(id, description string) int {
	index, ok := s.rules[id]
	if !ok {
		index = len(s.rules)
		s.rules[id] = index
		s.run.Tool.Driver.Rules = append(s.run.Tool.Driver.Rules, sarifRule{id, sarifText{description}})
	}
	return index
}

// write writes a result, preceded by the beginning of the log if it is the first.
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

// Close completes the log. If the run was interrupted, it adds a notification.
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

// indented returns v as JSON with each line but the first prefixed.
func indented(v any, prefix string) (string, error) {
	var b strings.Builder
	enc := Encoder(&b)
	enc.SetIndent(prefix, "  ")
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
