package celenv

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
)

// An IssuesError holds the errors found by the parser or the checker.
type IssuesError struct {
	source common.Source
	errors []*common.Error // sorted by position
	text   string
}

func newIssuesError(source common.Source, issues *cel.Issues) *IssuesError {
	e := &IssuesError{source: source, errors: issues.Errors()}
	end := truncated(issues)
	slices.SortStableFunc(e.errors, func(a, b *common.Error) int {
		return cmp.Or(cmp.Compare(a.Location.Line(), b.Location.Line()), cmp.Compare(a.Location.Column(), b.Location.Column()))
	})
	var b strings.Builder
	for _, err := range e.errors {
		writeError(&b, source, err)
		b.WriteByte('\n')
	}
	b.WriteString(end)
	e.text = strings.TrimSuffix(b.String(), "\n")
	return e
}

// Errors returns the errors, sorted by position.
func (e *IssuesError) Errors() []*common.Error { return e.errors }

// Offset returns the position of error i in code points, or 0 if it is unknown.
func (e *IssuesError) Offset(i int) int {
	if i >= len(e.errors) {
		return 0
	}
	offset, _ := e.source.LocationOffset(e.errors[i].Location)
	return max(0, int(offset))
}

// Error returns the errors with their snippets in the API server's form.
func (e *IssuesError) Error() string { return e.text }

// Place returns the line and column of the first error, counted from 1, and a snippet: the line,
// followed by a line with a caret. It returns zero values if the position is unknown.
func (e *IssuesError) Place() (line, column int, snippet string) {
	if len(e.errors) == 0 {
		return 0, 0, ""
	}
	at := e.errors[0].Location
	line, column = at.Line(), max(0, at.Column())+1
	lines := strings.Split(e.source.Content(), "\n")
	if line < 1 || line > len(lines) {
		return 0, 0, ""
	}
	text := strings.ReplaceAll(lines[line-1], "\t", " ")
	return line, column, text + "\n" + strings.Repeat(" ", column-1) + "^"
}

// maxErrors is the number of errors that cel-go shows (cel-go, common/errors.go).
const maxErrors = 100

// truncated returns the last line of the text of issues, which has the number of errors that are not
// shown, or "" if all are shown. Without positions, cel-go writes the text in linear time.
func truncated(issues *cel.Issues) string {
	shown := issues.Errors()
	if len(shown) < maxErrors {
		return ""
	}
	copies := make([]common.Error, len(shown))
	for i, err := range shown {
		copies[i] = *err
		*err = common.Error{Location: common.NoLocation}
	}
	lines := strings.Split(issues.String(), "\n")
	for i, err := range shown {
		*err = copies[i]
	}
	if len(lines) <= maxErrors {
		return ""
	}
	return lines[maxErrors]
}

// maxSnippet is the length of the longest line that cel-go shows, in bytes (cel-go, common/error.go).
const maxSnippet = 16384

// writeError writes the text of an error like cel-go, whose time grows with the square of the
// column.
func writeError(b *strings.Builder, source common.Source, err *common.Error) {
	line, column := err.Location.Line(), err.Location.Column()
	fmt.Fprintf(b, "ERROR: %s:%d:%d: %s", source.Description(), line, column+1, err.Message)
	snippet, ok := source.Snippet(line)
	if !ok || len(snippet) > maxSnippet {
		return
	}
	snippet = strings.ReplaceAll(snippet, "\t", " ")
	fmt.Fprintf(b, "\n | %s\n | ", snippet)
	// Characters of several bytes count as wide, and have marks of the same width.
	rest := snippet
	next := func(narrow, wide string) string {
		_, size := utf8.DecodeRuneInString(rest)
		if rest = rest[size:]; size > 1 {
			return wide
		}
		return narrow
	}
	for range column {
		if rest == "" {
			break
		}
		b.WriteString(next(".", "\uff0e"))
	}
	b.WriteString(next("^", "\uff3e"))
}
