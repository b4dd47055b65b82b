// Package jsontext scans JSON strings eight bytes at a time, and indents JSON within a limit.
package jsontext

import "math/bits"

// Plain returns the index of the first byte of s, at or after from, that is not plain: len(s) if all bytes
// are plain, or from if that is greater. Plain bytes are ASCII from space to DEL (0x7f), except the double quote and the
// backslash.
func Plain[T string | []byte](s T, from int) int {
	i := from
	for ; i+8 <= len(s); i += 8 {
		if marks := notPlain(word(s[i:])); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for i < len(s) && ' ' <= s[i] && s[i] < 0x80 && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// notPlain marks the high bit of bytes that are not plain. Bytes after the first marked byte can be marked by mistake.
func notPlain(w uint64) uint64 {
	const (
		each = 0x0101010101010101
		high = 0x80 * each
	)
	quotes, backslashes := w^'"'*each, w^'\\'*each
	control := (w - ' '*each) &^ w
	return (w | control | (quotes-each)&^quotes | (backslashes-each)&^backslashes) & high
}

func word[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
