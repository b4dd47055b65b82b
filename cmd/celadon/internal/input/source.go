package input

import "bytes"

// Source is what the user wrote: the object's own text, or that of the YAML
// List around it, and the line of the file that it begins on. It is nil where
// that is not known.
func (d *Document) Source() (source []byte, line int, inList bool) {
	if d.text == nil {
		return nil, 0, false
	}
	return d.text.text, d.text.line, d.item
}

// Detach lets go of the file around a document that is no item of a List.
func (d *Document) Detach() {
	if d.text != nil && !d.item {
		d.text = &text{text: bytes.Clone(d.text.text), before: bytes.Clone(d.text.before), line: d.text.line, column: d.text.column}
	}
	d.json = bytes.Clone(d.json)
}

// Edited is an object of which the text is known, as an editor has it: line is
// where the text begins in the file, 0 where it stands in none.
func Edited(file string, source []byte, line, item int, inList bool, object map[string]any) *Document {
	line = max(1, line)
	return &Document{
		File: file, Item: item, Line: line + leading(source), Object: object, item: inList,
		text: &text{text: source, line: line, column: 1},
	}
}
