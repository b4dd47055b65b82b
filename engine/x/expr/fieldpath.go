package expr

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var errNoField = errors.New("does not refer to a valid field")

// ErrPathPanics is the error for a field path on which a server's parser panics because it goes
// through additionalProperties without a schema.
var ErrPathPanics = errors.New("does not refer to a valid field")

// FieldPath parses a rule's fieldPath, which is relative to s, and returns its normalized form. It
// follows k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel.ValidFieldPath, whose import would
// link much more. Like it, FieldPath ignores what follows a name of 64 KiB.
func FieldPath(path string, s *schema.Structural) (normal string, err error) {
	p := &pathParser{at: s}
	p.tokens = bufio.NewScanner(strings.NewReader(path))
	p.tokens.Split(splitPath)
	for p.tokens.Scan() {
		if err := p.step(p.tokens.Text()); err != nil {
			return "", err
		}
	}
	return p.path.String(), nil
}

type pathParser struct {
	tokens *bufio.Scanner
	path   *field.Path
	at     *schema.Structural // nil if additionalProperties has no schema
}

// step parses ".name" or "['name']", whose first token is given.
func (p *pathParser) step(token string) error {
	switch token {
	case ".":
		name, err := p.next()
		if err != nil {
			return err
		}
		return p.enter(name)
	case "[":
		quoted, err := p.next()
		if err != nil {
			return err
		}
		name, err := unquote(quoted)
		if err != nil {
			return err
		}
		if err := p.enter(name); err != nil {
			return err
		}
		end, err := p.next()
		if err == nil && end != "]" {
			err = fmt.Errorf("expected ] but got %s", end)
		}
		return err
	}
	return fmt.Errorf("expected [ or . but got: %s", token)
}

func (p *pathParser) next() (token string, err error) {
	if !p.tokens.Scan() {
		return "", errors.New("unexpected end of JSON path")
	}
	return p.tokens.Text(), nil
}

func (p *pathParser) enter(name string) error {
	switch {
	case p.at == nil:
		return ErrPathPanics
	case p.at.Properties != nil:
		property, ok := p.at.Properties[name]
		if !ok {
			return errNoField
		}
		p.path, p.at = p.path.Child(name), &property
	case p.at.AdditionalProperties != nil:
		p.path, p.at = p.path.Key(name), p.at.AdditionalProperties.Structural
	default:
		return errNoField
	}
	return nil
}

// splitPath is a bufio.SplitFunc. A token is a delimiter, a quoted string, or what precedes the next
// delimiter.
func splitPath(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if len(data) == 0 {
		return 0, nil, nil
	}
	end := bytes.IndexAny(data, ".[]")
	if data[0] == '\'' {
		end = closingQuote(data) + 1
	} else if end == 0 {
		end = 1
	}
	if end <= 0 {
		if !atEOF {
			return 0, nil, nil
		}
		end = len(data)
	}
	return end, data[:end], nil
}

func closingQuote(data []byte) int {
	for i := 1; i < len(data); i++ {
		if data[i] == '\'' && data[i-1] != '\\' {
			return i
		}
	}
	return -1
}

var escape = regexp.MustCompile(`\\.`)

var escapes = map[byte]string{'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '\'': "'", '\\': `\`}

// unquote returns the content of a string in single quotes. The error names the last escape sequence
// that is invalid.
func unquote(quoted string) (text string, err error) {
	if len(quoted) < 2 || quoted[0] != '\'' || quoted[len(quoted)-1] != '\'' {
		return "", fmt.Errorf("expected single quoted string but got %s", quoted)
	}
	text = escape.ReplaceAllStringFunc(quoted[1:len(quoted)-1], func(sequence string) string {
		c, ok := escapes[sequence[1]]
		if !ok {
			err = fmt.Errorf("invalid string literal: invalid escape char %s", sequence)
		}
		return c
	})
	return text, err
}
