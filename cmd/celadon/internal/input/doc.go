// Package input reads Kubernetes objects from files, folders and streams.
//
//	input.Scan(stdin, paths, wait, func(c input.Chunk) bool { … })
//	chunk.Each(func(d *input.Document) bool { … })
//
// Scan finds where objects begin and end, and holds no more than one of them;
// Each decodes them, and can run on any goroutine. Only a YAML document is one
// piece whatever it holds: a YAML List is as large in memory as in the file,
// while a JSON List is taken apart item by item. Whoever writes the input may be
// hostile: all that is held has a bound, and below a folder only regular files
// are opened.
package input

// How it works. A window is a stretch of the input that moves forward. The
// splitter looks at what stands at its front: JSON, of which it finds the end
// by brackets and strings alone, or a YAML document up to the next separator.
// Whether a value is right is for the decoder to say, so that a bad value costs
// no other. Only where brackets do not add up the splitter itself reports it,
// and goes on behind the first line of the bad value where another begins.
