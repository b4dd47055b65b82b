package print

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
)

// sarifPrinter writes a log. Each result is written immediately. The rules to which results refer
// follow at the end, because JSON objects are unordered.
type sarifPrinter struct {
	w       io.Writer
	run     sarifRun // without its results
	rules   map[string]int
	results int
}

const home = "https://github.com/celadon-cel/celadon"

func newSARIF(w io.Writer, version string) *sarifPrinter {
	driver := sarifDriver{InformationURI: home, Name: "celadon", Version: version}
	return &sarifPrinter{
		w:     w,
		run:   sarifRun{ColumnKind: "unicodeCodePoints", Tool: sarifTool{Driver: driver}},
		rules: map[string]int{},
	}
}

func (s *sarifPrinter) Add(r finding.Result) error {
	for f := range r.Findings {
		if err := s.write(s.result(&f)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sarifPrinter) result(f *finding.Finding) *sarifResult {
	uri := url.URL{Path: filepath.ToSlash(f.At.File)}
	place := sarifPhysical{ArtifactLocation: sarifArtifact{URI: uri.String()}}
	if f.At.Line > 0 {
		place.Region = &sarifRegion{StartLine: f.At.Line, StartColumn: f.At.Column}
		if f.At.Excerpt.Line != "" {
			place.ContextRegion = &sarifRegion{StartLine: f.At.Line, Snippet: &sarifText{f.At.Excerpt.Line}}
		}
	}
	var suppressions []sarifSuppression
	if f.Known && f.Level == "error" {
		suppressions = []sarifSuppression{{Kind: "external", Justification: known}}
	}
	return &sarifResult{
		Suppressions:        suppressions,
		Level:               f.Level,
		Locations:           []sarifLocation{{place}},
		Message:             sarifText{f.Text},
		PartialFingerprints: map[string]string{"celadon/v1": fingerprint(slices.Concat(f.Subject, []string{f.ID, f.At.Field}))},
		RuleID:              f.ID,
		RuleIndex:           s.rule(f.ID, f.Description, f.Code),
	}
}

// rule returns the index of a rule, adding it if necessary. code is the mistake in it, or "".
func (s *sarifPrinter) rule(id, description, code string) int {
	index, ok := s.rules[id]
	if !ok {
		index = len(s.rules)
		s.rules[id] = index
		s.run.Tool.Driver.Rules = append(s.run.Tool.Driver.Rules, sarifRule{HelpURI: helpURI(code), ID: id, ShortDescription: sarifText{description}})
	}
	return index
}

// helpURI returns the address of the description of a code, or "".
func helpURI(code string) string {
	if code == "" {
		return ""
	}
	return home + "/blob/main/docs/errors.md#" + url.QueryEscape(code)
}

// write writes a result, preceded by the beginning of the log if it is the first.
func (s *sarifPrinter) write(result *sarifResult) error {
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

func (s *sarifPrinter) begin() error {
	_, err := fmt.Fprintf(s.w, "{\n  \"$schema\": %q,\n  \"version\": %q,\n  \"runs\": [\n    {\n      \"results\": [", sarifSchema, sarifVersion)
	return err
}

func fingerprint(identity []string) string {
	sum := sha256.Sum256([]byte(strings.Join(identity, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// End completes the log. If the report is incomplete, it adds a notification.
func (s *sarifPrinter) End(e End) error {
	end := "\n      ]"
	if s.results == 0 {
		if err := s.begin(); err != nil {
			return err
		}
		end = "]"
	}
	why := e.Lacks
	if e.Interrupted {
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
