package output

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
)

// These types define Stryker's mutation-testing-report format:
// https://github.com/stryker-mutator/mutation-testing-elements.
type (
	strykerReport struct {
		Schema        string                   `json:"$schema"`
		SchemaVersion string                   `json:"schemaVersion"`
		Thresholds    strykerThresholds        `json:"thresholds"`
		Framework     strykerFramework         `json:"framework"`
		Files         map[string]*strykerFile  `json:"files"`
		TestFiles     map[string]*strykerSuite `json:"testFiles,omitempty"`
	}
	strykerThresholds struct {
		High int `json:"high"`
		Low  int `json:"low"`
	}
	strykerFramework struct {
		Name string `json:"name"`
	}
	strykerFile struct {
		Language string          `json:"language"`
		Source   string          `json:"source"`
		Mutants  []strykerMutant `json:"mutants"`
	}
	strykerMutant struct {
		ID          string          `json:"id"`
		Mutator     string          `json:"mutatorName"`
		Description string          `json:"description,omitempty"`
		Replacement string          `json:"replacement"`
		Location    strykerLocation `json:"location"`
		Status      string          `json:"status"`
		Reason      string          `json:"statusReason,omitempty"`
		KilledBy    []string        `json:"killedBy,omitempty"`
	}
	strykerLocation struct {
		Start strykerPosition `json:"start"`
		End   strykerPosition `json:"end"`
	}
	strykerPosition struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	}
	strykerSuite struct {
		Tests []strykerTest `json:"tests"`
	}
	strykerTest struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
)

var strykerStatus = map[mutation.Status]string{
	mutation.Killed: "Killed", mutation.Survived: "Survived", mutation.NotCovered: "NoCoverage",
	mutation.Equivalent: "Ignored", mutation.TimedOut: "Timeout", mutation.NotViable: "CompileError",
}

// Stryker writes mutants as a mutation-testing-report. Mutants of a CRD that is not found in a file are
// listed under the CRD's name.
func Stryker(w io.Writer, r *mutation.Report, sources *Sources) error {
	out := &strykerReport{
		Schema:        "https://git.io/mutation-testing-schema",
		SchemaVersion: "1",
		Thresholds:    strykerThresholds{High: 80, Low: 60},
		Framework:     strykerFramework{Name: "celadon"},
		Files:         map[string]*strykerFile{},
	}
	killers := map[string]bool{}
	for i, m := range r.Mutants {
		one := strykerMutant{
			ID: fmt.Sprint(i), Mutator: m.Operator, Description: m.String(), Replacement: m.Replacement(),
			Status: strykerStatus[m.Status], Reason: m.Reason, Location: strykerLocation{strykerPosition{1, 1}, strykerPosition{1, 2}},
		}
		if m.KilledBy != "" {
			one.KilledBy = []string{m.KilledBy}
			killers[m.KilledBy] = true
		}
		src, from, to := sources.place(m)
		name := m.CRD
		if src != nil {
			name = src.file
			one.Location = strykerLocation{src.strykerPosition(from), src.strykerPosition(max(to, from+1))}
		}
		out.file(name, sources).Mutants = append(out.file(name, sources).Mutants, one)
	}
	out.tests(killers)
	return finding.Encoder(w).Encode(out)
}

func (r *strykerReport) file(name string, sources *Sources) *strykerFile {
	if r.Files[name] == nil {
		language := "yaml"
		if strings.HasSuffix(name, ".json") {
			language = "json"
		}
		r.Files[name] = &strykerFile{Language: language, Source: string(sources.files[name])}
	}
	return r.Files[name]
}

// tests adds the names of the cases that kill a mutant.
func (r *strykerReport) tests(names map[string]bool) {
	if len(names) == 0 {
		return
	}
	suite := &strykerSuite{}
	for name := range names {
		suite.Tests = append(suite.Tests, strykerTest{name, name})
	}
	slices.SortFunc(suite.Tests, func(a, b strykerTest) int { return strings.Compare(a.ID, b.ID) })
	r.TestFiles = map[string]*strykerSuite{"suites": suite}
}

func (s *source) strykerPosition(offset int) strykerPosition {
	p := s.doc.Position(offset)
	return strykerPosition{s.line + p.Line - 1, p.UTF16}
}
