package decode

import (
	"bytes"
	"iter"
)

// Separator reports whether line, with or without its line break, separates two YAML documents. Like kubectl (the
// YAMLReader of k8s.io/apimachinery), it accepts "---", alone or followed by a comment.
func Separator(line []byte) bool { return hasDashes(line) && isBlank(line[len(dashes):]) }

const dashes = "---"

// hasDashes is small enough to be inlined. Most lines of a file have no dashes.
func hasDashes(line []byte) bool {
	return len(line) >= len(dashes) && string(line[:len(dashes)]) == dashes
}

func isBlank(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || text[0] == '#'
}

// WrongSeparator reports whether line, such as "--- {a: b}", starts like a separator but contains
// more. The YAML specification allows such lines, but kubectl rejects the file.
func WrongSeparator(line []byte) bool {
	return hasDashes(line) && !isBlank(line[len(dashes):])
}

var bom = []byte("\ufeff")

// Around returns the bounds of the YAML document that contains offset, and its index in the text. The separator line
// belongs to the document that it starts, so offset can be less than start. JSON counts as a single document, even if
// it consists of several values.
func Around(text []byte, offset int) (start, end, index int) {
	n := 0
	for from, to := range Documents(text) {
		start, end, index = from, to, n
		if to > offset {
			break
		}
		n++
	}
	return start, end, index
}

// Documents yields the bounds of each YAML document in text, without separator lines.
func Documents(text []byte) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		start := 0
		if bytes.HasPrefix(text, bom) {
			start = len(bom)
		}
		for at := start; at < len(text); {
			next := len(text)
			if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
				next = at + n + 1
			}
			if Separator(text[at:next]) {
				if !yield(start, at) {
					return
				}
				start = next
			}
			at = next
		}
		yield(start, len(text))
	}
}
