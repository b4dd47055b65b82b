package input

// Text is what stands in a file of that name, or would.
type Text struct {
	File string
	Data []byte
}

// Each gives the documents, in order.
func (t Text) Each(work func(*Document)) {
	SplitText(t.File, t.Data, func(c Chunk) bool {
		return c.Each(func(doc *Document) bool {
			work(doc)
			return true
		})
	})
}
