package input

// A Text is the content of a file, or of a file that does not exist yet.
type Text struct {
	File string
	Data []byte
}

// Documents yields each document, in order.
func (t Text) Documents(yield func(*Document) bool) {
	SplitText(t.File, t.Data, func(c Chunk) bool { return c.Each(yield) })
}
