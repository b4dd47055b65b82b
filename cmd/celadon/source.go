package main

import (
	"io"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// each calls yield for every document below the paths, in order, until it says
// false: for commands that need no more than a few. What cannot be read is a
// document with an error.
func each(stdin io.Reader, paths []string, yield func(*input.Document) bool) {
	input.Scan(stdin, paths, func() {}, func(c input.Chunk) bool { return c.Each(yield) })
}
