package finding

import (
	"iter"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Result holds the findings of a command about an object, a CRD, or a test suite, for formats that
// list findings.
type Result struct {
	// Findings yields the findings. Most results have none.
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
	// Text is the message with its details. An annotation has Title and Note instead, which may have
	// several lines.
	Text, Title string
	Note        untrusted.Safe
	// Subject identifies the object, so that a code-scanning page can track the finding when its line
	// moves.
	Subject []string
	// Known is set if a baseline contains the errors of the object.
	Known bool
	// Rule is the rule that the finding is about, or nil if it cannot be located.
	Rule *engine.RuleRef
	// Code is the kind of mistake in the rule, as for celadon help, or "".
	Code string
	// Kind is that of the cause, or "". Lint is the lint, or nil.
	Kind engine.CauseKind
	Lint *vet.Lint
	// Write is a Go marker to add above the position, or "".
	Write string
}
