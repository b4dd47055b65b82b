package print

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
)

// gitlabPrinter writes a Code Quality report, whose findings GitLab shows in a merge request. See
// https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format.
type gitlabPrinter struct {
	w      io.Writer
	issues array
}

type gitlabIssue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// severities maps levels to GitLab's severities.
var severities = map[string]string{"error": "major", "warning": "minor", "note": "info"}

func (p *gitlabPrinter) Add(r finding.Result) error {
	for f := range r.Findings {
		if f.Known {
			continue
		}
		issue := gitlabIssue{Description: f.Text(), CheckName: f.ID, Severity: severities[f.Level]}
		issue.Fingerprint = fingerprint(slices.Concat(f.Subject, []string{f.ID, f.At.Field, f.Title}))
		issue.Location.Path, issue.Location.Lines.Begin = filepath.ToSlash(f.At.File), max(1, f.At.Line)
		if err := p.issues.add(p.w, issue, "  "); err != nil {
			return err
		}
	}
	return nil
}

// End completes the report. If the report is incomplete, it adds an issue.
func (p *gitlabPrinter) End(e End) error {
	if why := e.incomplete(); why != "" {
		issue := gitlabIssue{Description: why, CheckName: "incomplete", Severity: "blocker", Fingerprint: fingerprint([]string{why})}
		issue.Location.Path, issue.Location.Lines.Begin = ".", 1
		if err := p.issues.add(p.w, issue, "  "); err != nil {
			return err
		}
	}
	_, err := io.WriteString(p.w, p.issues.end("")+"\n")
	return err
}
