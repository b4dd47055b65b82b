package markers

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is a text in a marker as the generator reads it.
type Value struct {
	Text string
	// raw is the text with its quotes, as it stands in the file from offset start.
	raw   string
	start int
	cut   bool // of its last token, by a space behind it
}

// quote is the value's quote, " or `; 0 where it is bare.
func (v *Value) quote() byte {
	if len(v.raw) > 1 && (v.raw[0] == '"' || v.raw[0] == '`') {
		return v.raw[0]
	}
	return 0
}

// offset is where byte i of the text stands in the file.
func (v *Value) offset(i int) int {
	switch v.quote() {
	case 0:
		return v.start + i
	case '`':
		return v.start + 1 + i
	}
	rest, done := v.raw[1:len(v.raw)-1], 0
	for done < i && rest != "" {
		r, multibyte, tail, err := strconv.UnquoteChar(rest, '"')
		if err != nil {
			break // it was unquoted before
		}
		n := 1 // an escape such as \xff is one byte
		if multibyte {
			n = utf8.RuneLen(r)
		}
		if done+n > i {
			break // within what one escape stands for
		}
		done, rest = done+n, tail
	}
	return v.start + len(v.raw) - 1 - len(rest)
}

// at is the byte of the text at a line and a column, both from 1, the column in
// characters as CEL counts; what is past the end is the end.
func (v *Value) at(line, column int) int {
	from := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(v.Text[from:], '\n')
		if i < 0 {
			return len(v.Text)
		}
		from += i + 1
	}
	for ; column > 1 && from < len(v.Text); column-- {
		_, size := utf8.DecodeRuneInString(v.Text[from:])
		from += size
	}
	return from
}
