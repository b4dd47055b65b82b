package main

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
)

// SARIF 2.1.0, as far as it is used here:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
}

// vetSARIF writes one log at the end.
type vetSARIF struct {
	out     io.Writer
	results []sarifResult
}

func (p *vetSARIF) crd(one *vetted) error {
	if one.problem != nil {
		p.add(one, finding{"unreadable", "error", one.problem.Error(), one.doc.Line, 1})
		return nil
	}
	for _, f := range one.findings() {
		p.add(one, f)
	}
	return nil
}

func (p *vetSARIF) add(one *vetted, f finding) {
	p.results = append(p.results, sarifResult{
		RuleID:  f.id,
		Level:   f.level,
		Message: sarifText{f.message},
		Locations: []sarifLocation{{sarifPhysical{
			sarifArtifact{filepath.ToSlash(one.doc.File)},
			sarifRegion{max(f.line, 1), max(f.column, 1)},
		}}},
	})
}

func (p *vetSARIF) end(*vetSummary) error {
	rules := []sarifRule{}
	for _, r := range p.results {
		if !slices.Contains(rules, sarifRule{r.RuleID}) {
			rules = append(rules, sarifRule{r.RuleID})
		}
	}
	slices.SortFunc(rules, func(a, b sarifRule) int { return cmp.Compare(a.ID, b.ID) })
	if p.results == nil {
		p.results = []sarifResult{}
	}
	enc := report.Encoder(p.out)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{sarifTool{sarifDriver{"celadon vet", rules}}, p.results}},
	})
}
