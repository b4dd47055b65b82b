package input

// Source is what the user wrote: the object's own text, or that of the YAML
// List around it, and the line of the file that it begins on. It is nil where
// that is not known.
func (d *Document) Source() (source []byte, line int, inList bool) {
	if d.text == nil {
		return nil, 0, false
	}
	return d.text.text, d.text.line, d.item
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
