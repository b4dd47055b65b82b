// Package jsontext indents JSON within a limit.
package jsontext

import (
	"bytes"
	"encoding/json"
)

// The indentation can take freeIndent bytes plus indentShare times the size of the text.
const (
	freeIndent  = 1 << 20
	indentShare = 4
)

// Indent appends valid, compact JSON to dst as json.Indent does. If deep values would make the indentation much larger
// than the text, it appends the text unchanged.
func Indent(dst *bytes.Buffer, text []byte, prefix, indent string) error {
	if indentation(text, len(prefix), len(indent)) > freeIndent+indentShare*len(text) {
		_, err := dst.Write(text)
		return err
	}
	return json.Indent(dst, text, prefix, indent)
}

func indentation(text []byte, prefix, indent int) (total int) {
	level := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = StringEnd(text, i) - 1
			continue
		case '{', '[':
			level++
		case '}', ']':
			level--
		case ',':
		default:
			continue
		}
		total += prefix + level*indent
	}
	return total
}

// StringEnd returns the offset after the JSON string that begins at offset i, or the length of text if the string
// has no end.
func StringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(text)
}
