package input

import "bytes"

// Source returns the source of the object, or of the YAML List that contains it, and the line of the
// file on which the source begins. It returns nil if the source is unknown.
func (d *Document) Source() (source []byte, line int, inList bool) {
	if d.text == nil {
		return nil, 0, false
	}
	return d.text.text, d.text.line, d.item
}

// Detach copies the document's source, so that the rest of the file can be freed. Items of a List keep the List.
func (d *Document) Detach() {
	if d.text != nil && !d.item {
		d.text = &text{text: bytes.Clone(d.text.text), before: bytes.Clone(d.text.before), line: d.text.line, column: d.text.column}
	}
	d.json = bytes.Clone(d.json)
}

// Edited returns a document for an object whose source is known, for example in an editor. Line is
// the line in the file on which source begins, or 0 if it is not in a file.
func Edited(file string, source []byte, line, item int, inList bool, object map[string]any) *Document {
	line = max(1, line)
	return &Document{
		File: file, Item: item, Line: line + leading(source), Object: object, item: inList,
		text: &text{text: source, line: line, column: 1},
	}
}
