package finding

import (
	"iter"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
)

// Result holds the findings of a command about an object, a CRD, or a test suite, for formats that list findings.
type Result struct {
	// Findings yields the findings.
	Findings iter.Seq[Finding]
	// Cases returns the result as test cases of a file. Their strings are escaped, because
	// encoding/xml writes characters that XML cannot represent unchanged in CDATA, and as U+FFFD
	// elsewhere. Cases is nil for commands without a JUnit report.
	Cases func() (file string, cases []junit.Testcase)
}

// Finding is a problem at a location.
type Finding struct {
	// ID and Description identify the check: a CEL rule, or a check of the server.
	ID, Description string
	// Level is error, warning, or note.
	Level string
	At    Location
	// Title names the object and its problem. It is "" if the ID names them.
	Title string
	// Message begins with the title if it would not be clear without it. Expression is the rule that
	// it is about, or "", and Details are further lines.
	Message, Expression string
	Details             []string
	// Subject identifies the object, so that a code-scanning page can track the finding when its line moves.
	Subject []string
	// Known is set if a baseline contains the errors of the object.
	Known bool
	// Rule is the rule that the finding is about, or nil.
	Rule *engine.RuleRef
	// Code is the kind of mistake in the rule, as for celadon help, or "".
	Code string
	// Kind is the kind of the cause, or "". Lint is the lint, or nil.
	Kind engine.CauseKind
	Lint *vet.Lint
	// Write is a Go marker to add above the position, or "".
	Write string
}

// Text returns the message with the rule and the details.
func (f *Finding) Text() string {
	text := f.Message
	if f.Expression != "" {
		text += "\nrule: " + f.Expression
	}
	return strings.Join(append([]string{text}, f.Details...), "\n")
}

// SetLines sets the message to the first line of text, and the details to the others.
func (f *Finding) SetLines(text string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	f.Message, f.Details = lines[0], lines[1:]
}
