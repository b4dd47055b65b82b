package convertcrd

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/internal/foreign"
)

// document is what stands between two separators, and its first line.
type document struct {
	line int
	text []byte
}

// documents are those of a file that are not blank, with \n at the ends of lines.
func documents(data []byte) (all []document) {
	d, number := document{line: 1}, 1
	end := func() {
		if len(bytes.TrimSpace(d.text)) > 0 {
			all = append(all, d)
		}
		d = document{line: number}
	}
	for line := range bytes.Lines(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))) {
		number++
		if rest, ok := bytes.CutPrefix(line, []byte("---")); ok && len(bytes.TrimSpace(rest)) == 0 {
			end()
			continue
		}
		d.text = append(d.text, line...)
	}
	end()
	return all
}

var errCharacters = errors.New("it has characters that a terminal must not get, and cannot be written without them: escape them in double quotes")

// readable is a document of which a foreign.Writer leaves what it says: texts that
// it escapes are put in double quotes.
func readable(text []byte) ([]byte, error) {
	if safe(text) {
		return text, nil
	}
	if json.Valid(text) {
		var b bytes.Buffer // tabs may stand between its values
		err := json.Indent(&b, bytes.TrimSpace(text), "", "  ")
		return []byte(foreign.Text(b.String())), err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	foreign.Quote(&doc)
	out, err := encoded(&doc)
	if err != nil {
		return nil, err
	}
	out = []byte(foreign.Text(string(out)))
	var was, is any
	if err := yaml.Unmarshal(text, &was); err != nil {
		return nil, err
	}
	if yaml.Unmarshal(out, &is) != nil || !reflect.DeepEqual(was, is) {
		return nil, errCharacters
	}
	return out, nil
}

func safe(text []byte) bool { return string(foreign.Text(string(text))) == string(text) }
