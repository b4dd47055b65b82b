// Package input reads Kubernetes objects from files, folders, and streams.
//
//	input.Scan(stdin, paths, wait, func(c input.Chunk) bool { … })
//	chunk.Each(func(d *input.Document) bool { … })
//
// Scan splits the input into chunks without holding all of it. Each decodes the objects of a chunk and
// can run on any goroutine. A YAML document is always one chunk, so a YAML List is held as a whole. A
// JSON List is split into its items.
//
// The input is untrusted: memory use is limited, and only regular files are opened below a folder.
package input

// How it works. A window is a section of the input that moves forward. The splitter examines the
// front of the window. For JSON, it finds the end of the value from brackets and strings alone. For
// YAML, it takes everything up to the next separator. Syntax errors are left to the decoder, so that
// a malformed value does not affect the next value. If brackets do not match, the splitter reports
// the error itself, and continues at the next line that begins an object or a document.
