package input

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint/table"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

// A SyntaxError reports that a document is not valid YAML or JSON.
type SyntaxError struct {
	// Line is the line of the error in the file, or 0 if unknown.
	Line    int
	message string
}

func (e *SyntaxError) Error() string { return e.message }

// suggestsObject reports whether a text may contain a Kubernetes object, valid or not.
func suggestsObject(text []byte) bool { return bytes.Contains(text, []byte("apiVersion")) }

// numberedLine matches the line in a message of the YAML decoder.
var numberedLine = regexp.MustCompile(`\bline (\d+)\b`)

// yamlError converts an error of the YAML decoder for text, whose first line is line first of the file.
func yamlError(err error, text []byte, first int) *SyntaxError {
	e := &SyntaxError{message: strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")}
	if line := decode.ErrorLine(text, err); line > 0 {
		e.Line = first + line - 1
		e.message = strings.Replace(numberedLine.ReplaceAllString(e.message, ""), "yaml: : ", "yaml: ", 1)
		e.message = strings.Replace(e.message, "yaml: ", fmt.Sprintf("yaml: line %d: ", e.Line), 1)
		if words := table.Words("syntax", err.Error()+"\n"+string(decode.LineAt(text, line))); words != "" && !errors.As(err, new(*decode.UnquotedError)) {
			e.message += "; " + words
		}
	}
	return e
}

// duplicatesError converts the YAML decoder's error about duplicate keys in a text whose first line is line first of
// the file. The decoder's line numbers are right.
func duplicatesError(err error, first int) error {
	return errors.New(numberedLine.ReplaceAllStringFunc(err.Error(), func(s string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(s, "line "))
		return fmt.Sprintf("line %d", n+first-1)
	}))
}
