// Package print writes reports in the formats that people, scripts, and code-review pages read. See
// New for the report of celadon check, and NewList for formats that list the findings of any command.
package print

import (
	"fmt"
	"io"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Partial is the message of an interrupted report.
const Partial = "interrupted: the report covers only the objects before"

// Printer writes the report of celadon check while objects are validated.
type Printer interface {
	// CRD is called for each CRD, either before all objects or after them.
	CRD(*finding.CRD) error
	Object(*finding.Object) error
	End(*finding.Summary) error
}

// List writes results in a format that lists findings.
type List interface {
	Add(finding.Result) error
	End(End) error
}

// End completes a list.
type End struct {
	// Text has the last lines of the report, for formats that people read.
	Text        string
	Interrupted bool
	// Lacks describes the parts that a merged report lacks, or is "".
	Lacks string
}

func (e End) incomplete() string {
	if e.Interrupted {
		return Partial
	}
	return e.Lacks
}

// Options controls the content and style of a report.
type Options struct {
	KubeVersion string
	// StrictKinds makes an object without a CRD a finding.
	StrictKinds bool
	Quiet       bool
	Verbose     bool
	// Version is the version of Celadon.
	Version string
	// Color and Width apply to text on a terminal. Width 0 is unlimited.
	Color bool
	Width int
	// Part, if not nil, makes JSON lines a report that can be merged.
	Part *finding.PartHead
	// Stderr receives findings in formats whose output consists of objects.
	Stderr io.Writer
}

// Formats returns the formats that New supports.
func Formats() []string { return append([]string{"text", "wide", "yaml", "json", "jsonl"}, Lists()...) }

// Lists returns the formats that NewList supports.
func Lists() []string { return []string{"junit", "sarif", "github", "gitlab", "markdown"} }

// New returns the printer of a format. Every printer escapes characters that could control a
// terminal or mislead the reader of a log.
func New(format string, to io.Writer, o Options) (Printer, error) {
	w := untrusted.NewWriter(to)
	switch format {
	case "text":
		w.Colors = o.Color
		return &textPrinter{w: w, Options: o}, nil
	case "wide":
		return &widePrinter{textPrinter: o.stderrPrinter(), w: w, rows: map[*finding.Table][]string{}}, nil
	case "yaml":
		return &yamlPrinter{textPrinter: o.stderrPrinter(), w: w}, nil
	case "json":
		return &jsonPrinter{w: w, kubeVersion: o.KubeVersion}, nil
	case "jsonl":
		return &linesPrinter{Encoder(w), o.Part != nil, o.Part}, nil
	}
	list := NewList(format, w, "celadon check", o.Version)
	if list == nil {
		return nil, fmt.Errorf("--output %q: want %s", format, phrase.Or(Formats()))
	}
	return Objects(list, o.StrictKinds), nil
}

// NewList returns the printer of a format that lists findings: see Lists. It returns nil for another format. command is
// the name of the command, and version the version of Celadon.
func NewList(format string, w *untrusted.Writer, command, version string) List {
	switch format {
	case "junit":
		return &junitPrinter{w: w, name: command}
	case "sarif":
		return &sarifPrinter{w: w, version: version, index: map[string]int{}}
	case "github":
		return newGitHub(w)
	case "gitlab":
		return &gitlabPrinter{w: w}
	case "markdown":
		return &markdownPrinter{w: w, name: command}
	}
	return nil
}

func (o Options) stderrPrinter() *textPrinter {
	to := o.Stderr
	if to == nil {
		to = io.Discard
	}
	o.Color, o.Width = false, 0
	return &textPrinter{w: untrusted.NewWriter(to), Options: o}
}
