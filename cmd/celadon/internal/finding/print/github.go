package print

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// How it works. GitHub shows only the first ten annotations of a step, so the order matters: errors come before warnings,
// and the first annotation of each problem before its repetitions. The annotations are therefore held until the end. If
// there are too many, those held so far are sorted and written, and the rest is written in the order of the input.

const (
	maxHeld      = 2000
	maxHeldBytes = 4 << 20
)

// githubPrinter writes workflow commands, which GitHub shows as annotations in a pull request. See
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions.
type githubPrinter struct {
	w     *untrusted.Writer
	held  []heldAnnotation
	bytes int
	seen  map[string]bool // the problems of held annotations
	full  bool            // annotations are no longer held
}

type heldAnnotation struct {
	command, text string
	rank          int
}

func newGitHub(w *untrusted.Writer) *githubPrinter {
	return &githubPrinter{w: w, seen: map[string]bool{}}
}

func (p *githubPrinter) Add(r finding.Result) error {
	for f := range r.Findings {
		if f.Known {
			continue
		}
		if err := p.annotate(&f); err != nil {
			return err
		}
	}
	return nil
}

func (p *githubPrinter) annotate(f *finding.Finding) error {
	a := newAnnotation(f)
	if p.full {
		return p.w.Command(a.command, a.text)
	}
	problem := problemOf(f)
	if a.rank = 2 * slices.Index(levels, f.Level); p.seen[problem] {
		a.rank++
	}
	p.seen[problem] = true
	p.held = append(p.held, a)
	if p.bytes += len(a.text) + len(problem); len(p.held) < maxHeld && p.bytes < maxHeldBytes {
		return nil
	}
	p.full = true
	return p.flush()
}

func (p *githubPrinter) flush() error {
	slices.SortStableFunc(p.held, func(a, b heldAnnotation) int { return a.rank - b.rank })
	for _, a := range p.held {
		if err := p.w.Command(a.command, a.text); err != nil {
			return err
		}
	}
	p.held, p.seen, p.bytes = nil, map[string]bool{}, 0
	return nil
}

// levels are the levels in the order of their annotations.
var levels = []string{"error", "warning", "note"}

var indexes = lazy.New(`\[[^\]]*\]`)

// problemOf returns a key for a problem. In objects, findings of the same rule, or of the same check of a kind's field,
// are repetitions. Elsewhere, findings with the same text are.
func problemOf(f *finding.Finding) string {
	what := []string{f.Level, f.ID}
	switch isObject := len(f.Subject) >= 5 && f.Subject[2] != "CustomResourceDefinition"; {
	case isObject && f.Rule != nil:
	case isObject && f.At.Field != "":
		what = append(what, f.Subject[2], indexes.ReplaceAllString(f.At.Field, "[]"))
	default:
		what = append(what, f.Text())
	}
	return strings.Join(what, "\x00")
}

func newAnnotation(f *finding.Finding) heldAnnotation {
	level := f.Level
	if level == "note" {
		level = "notice"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "file=%s", propertyEscapes.Replace(f.At.File))
	if f.At.Line > 0 {
		fmt.Fprintf(&b, ",line=%d", f.At.Line)
	}
	if f.At.Column > 0 {
		fmt.Fprintf(&b, ",col=%d", f.At.Column)
	}
	text := untrusted.Text(note(f)) // a runner may print its lines
	title := untrusted.Line(cmp.Or(f.Title, f.ID))
	fmt.Fprintf(&b, ",title=%s::%s", propertyEscapes.Replace(string(title)), dataEscapes.Replace(string(text)))
	return heldAnnotation{command: "::" + level + " ", text: b.String()}
}

func note(f *finding.Finding) string {
	var b strings.Builder
	untrusted.Fprintf(&b, "%s\n", Sentence(strings.TrimPrefix(f.Message, f.Title+": ")))
	rule(&b, "rule: ", f.Expression)
	for _, line := range f.Details {
		untrusted.Fprintf(&b, "%s\n", line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func (p *githubPrinter) End(e End) error {
	if err := p.flush(); err != nil {
		return err
	}
	_, err := io.WriteString(p.w, e.Text)
	return err
}

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
