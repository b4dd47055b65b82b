package decode

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
)

// How it works: the library has the exact position of an error but reports only a line, in one of three ways. Errors of
// its parser have the number of the line before, except on the first line, where the number is missing. Errors of its
// scanner have the right number, but for a quote that is never closed, that is the last line. Version 3 reports the line
// of the quote, or of an open bracket. ErrorLine decodes the text again, below another line, so that the number is never missing.

// maxDecodedAgain limits the text that is decoded again for the position of an error, in bytes.
const maxDecodedAgain = 4 << 20

// ErrorLine returns the line of an error that Decode returned for text, from 1, or 0 if it is unknown.
func ErrorLine(text []byte, err error) int {
	text = bytes.TrimPrefix(text, bom)
	line := 0
	switch message := err.Error(); {
	case unreadable.MatchString(message):
		line = 1 + bytes.Count(text[:firstUnreadable(text)], newline)
	case unknownAnchor.MatchString(message):
		name := unknownAnchor.FindStringSubmatch(message)[1]
		if before, _, found := bytes.Cut(text, []byte("*"+name)); found {
			line = 1 + bytes.Count(before, newline)
		}
	case strings.Contains(message, "invalid map key"):
		line = lineMatching(text, template)
	case strings.Contains(message, "unsupported value: "):
		line = lineMatching(text, notJSON)
	case !strings.Contains(message, "yaml: "): // not an error of the library
	case len(text) > maxDecodedAgain:
		line, _ = numbered(err)
	default:
		line = reparsed(text)
	}
	return min(line, lastLine(text))
}

var (
	unreadable    = regexp.MustCompile(`UTF-8|UTF-16|Unicode character|control characters are not allowed`)
	unknownAnchor = regexp.MustCompile(`unknown anchor '([^']*)' referenced`)
	template      = regexp.MustCompile(`\{\{`)
	notJSON       = regexp.MustCompile(`[-:,[{] *[-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)\b`)
	blockKey      = regexp.MustCompile(`^ *(?:- +)*[\w./-]+:(?: |\r?$)`)
	numberedLine  = regexp.MustCompile(`^yaml: line (\d+): (.*)`)
)

// ofParser holds the errors of the library's parser, as opposed to its scanner.
var ofParser = map[string]bool{
	"did not find expected <document start>": true, "did not find expected node content": true, "did not find expected '-' indicator": true,
	"did not find expected key": true, "did not find expected ',' or ']'": true, "did not find expected ',' or '}'": true,
	"found undefined tag handle": true, "found duplicate %YAML directive": true, "found incompatible YAML document": true,
	"found duplicate %TAG directive": true,
}

func reparsed(text []byte) int {
	below := append([]byte("#\n"), text...)
	var nothing struct{}
	line, problem := numbered(yaml2.Unmarshal(below, &nothing))
	atEnd := problem == "found unexpected end of stream" || problem == "found unexpected document indicator" ||
		ofParser[problem] && line > lastLine(text)
	if atEnd { // the start of the quote or the bracket is more useful
		var root yaml3.Node
		line, _ = numbered(yaml3.Unmarshal(below, &root))
	}
	if ofParser[problem] {
		if strings.Contains(problem, "did not find expected ','") && blockKey.Match(LineAt(text, line)) {
			line = unclosed(below, line)
		}
		return line
	}
	line--
	for problem == "could not find expected ':'" && line > 1 { // the key without a colon is above
		line--
		if above := bytes.TrimSpace(LineAt(text, line)); len(above) > 0 && above[0] != '#' {
			break
		}
	}
	return max(0, line)
}

// unclosed returns the line of the bracket that is open in line, as version 3 reports it.
func unclosed(below []byte, line int) int {
	var root yaml3.Node
	if open, _ := numbered(yaml3.Unmarshal(below, &root)); open > 0 && open < line {
		return open
	}
	return line
}

// LineAt returns a line of text, from 1, or nil.
func LineAt(text []byte, number int) []byte {
	for line := range bytes.Lines(text) {
		if number--; number == 0 {
			return bytes.TrimRight(line, "\r\n")
		}
	}
	return nil
}

func lineMatching(text []byte, pattern *regexp.Regexp) int {
	at := pattern.FindIndex(text)
	if at == nil {
		return 0
	}
	return 1 + bytes.Count(text[:at[0]], newline)
}

// numbered returns the line and the problem in an error of the library, or 0 if the error has no
// line.
func numbered(err error) (line int, problem string) {
	if err == nil || errors.As(err, new(*yaml2.TypeError)) {
		return 0, ""
	}
	found := numberedLine.FindStringSubmatch(err.Error())
	if found == nil {
		return 0, ""
	}
	line, _ = strconv.Atoi(found[1])
	return line, found[2]
}

// firstUnreadable returns the offset of the first character that YAML forbids, or the length of
// text.
func firstUnreadable(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1, r == '\uFEFF', r == '\uFFFE', r == '\uFFFF', r == 0x7f,
			r < ' ' && !strings.ContainsRune("\t\n\r", r), 0x80 <= r && r < 0xa0 && r != 0x85:
			return i
		}
		i += size
	}
	return len(text)
}

// lastLine returns the last line that is not blank, from 1.
func lastLine(text []byte) int {
	return 1 + bytes.Count(bytes.TrimRight(text, " \t\r\n"), newline)
}
