package input

// A Text is the content of a file, or of a file that does not exist yet.
type Text struct {
	File string
	Data []byte
}

// Each calls work with each document, in order.
func (t Text) Each(work func(*Document)) {
	SplitText(t.File, t.Data, func(c Chunk) bool {
		return c.Each(func(doc *Document) bool {
			work(doc)
			return true
		})
	})
}
