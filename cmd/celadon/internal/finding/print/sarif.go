package print

import (
	"cmp"
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

// The subset of SARIF 2.1.0 that Celadon writes. A complete library would add a JSON Schema validator and the schema
// to the binary, and would write an empty value for every unset field. Tests validate the logs against the schema.

const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json"
)

type sarif map[string]any

// sarifPrinter writes a log. Each result is written immediately. The rules to which results refer
// follow at the end, because JSON objects are unordered.
type sarifPrinter struct {
	w       io.Writer
	version string
	rules   []sarif
	index   map[string]int
	results array
}

const home = "https://github.com/celadon-cel/celadon"

func (s *sarifPrinter) Add(r finding.Result) error {
	for f := range r.Findings {
		if err := cmp.Or(s.begin(), s.results.add(s.w, s.result(&f), "        ")); err != nil {
			return err
		}
	}
	return nil
}

func (s *sarifPrinter) result(f *finding.Finding) sarif {
	uri := url.URL{Path: filepath.ToSlash(f.At.File)}
	place := sarif{"artifactLocation": sarif{"uri": uri.String()}}
	if f.At.Line > 0 {
		region := sarif{"startLine": f.At.Line}
		if f.At.Column > 0 {
			region["startColumn"] = f.At.Column
		}
		place["region"] = region
		if f.At.Excerpt.Line != "" {
			place["contextRegion"] = sarif{"startLine": f.At.Line, "snippet": sarif{"text": f.At.Excerpt.Line}}
		}
	}
	result := sarif{
		"level":               f.Level,
		"locations":           []sarif{{"physicalLocation": place}},
		"message":             sarif{"text": f.Text()},
		"partialFingerprints": sarif{"celadon/v1": fingerprint(slices.Concat(f.Subject, []string{f.ID, f.At.Field}))},
		"ruleId":              f.ID,
		"ruleIndex":           s.rule(f.ID, f.Description, f.Code),
	}
	if f.Known && f.Level == "error" {
		result["suppressions"] = []sarif{{"kind": "external", "justification": known}}
	}
	return result
}

func (s *sarifPrinter) rule(id, description, code string) int {
	index, ok := s.index[id]
	if !ok {
		index = len(s.rules)
		s.index[id] = index
		rule := sarif{"id": id, "shortDescription": sarif{"text": description}}
		if code != "" {
			rule["helpUri"] = home + "/blob/main/docs/errors.md#" + url.QueryEscape(code)
		}
		s.rules = append(s.rules, rule)
	}
	return index
}

func (s *sarifPrinter) begin() error {
	if s.results.n > 0 {
		return nil
	}
	_, err := fmt.Fprintf(s.w, "{\n  \"$schema\": %q,\n  \"version\": %q,\n  \"runs\": [\n    {\n      \"results\": ", sarifSchema, sarifVersion)
	return err
}

func fingerprint(identity []string) string {
	sum := sha256.Sum256([]byte(strings.Join(identity, "\x00")))
	return hex.EncodeToString(sum[:16])
}

func (s *sarifPrinter) End(e End) error {
	if err := s.begin(); err != nil {
		return err
	}
	why := e.incomplete()
	invocation := sarif{"executionSuccessful": why == ""}
	if why != "" {
		invocation["toolExecutionNotifications"] = []sarif{{"level": "error", "message": sarif{"text": why}}}
	}
	driver := sarif{"informationUri": home, "name": "celadon"}
	if len(s.rules) > 0 {
		driver["rules"] = s.rules
	}
	if s.version != "" {
		driver["version"] = s.version
	}
	run := sarif{"columnKind": "unicodeCodePoints", "invocations": []sarif{invocation}, "tool": sarif{"driver": driver}}
	rest, err := indented(run, "    ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "%s,%s\n  ]\n}\n", s.results.end("      "), strings.TrimPrefix(rest, "{"))
	return err
}
