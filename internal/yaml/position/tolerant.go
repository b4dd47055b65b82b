package position

// How it works: the lines of a text that is not valid YAML are parsed by their indentation (outline.go). The
// scalars are read (node.go) with the matcher, which then computes the value instead of comparing it with the
// parser's.

// ParseTolerant parses a text that may be invalid YAML because it is being edited. If the text is valid,
// ParseTolerant returns the result of Parse. Otherwise, it returns a document whose tree is derived from the
// indentation of the lines, for which Broken returns an error and Edit fails.
func ParseTolerant(text []byte) *Document {
	d, err := Parse(text)
	if err == nil {
		return d
	}
	d = &Document{text: string(text), broken: err}
	d.measure()
	d.Root = outlined(d.text)
	return d
}

// Broken returns the parser's error, or nil if the text is valid YAML.
func (d *Document) Broken() error { return d.broken }
