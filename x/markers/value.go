package markers

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is the value of an argument as the generator reads it.
type Value struct {
	Text string
	// raw is the value with its quotes, as written in the file at offset start.
	raw   string
	start int
	cut   bool // the last token was lost because a space follows it
}

// quote returns the quote character of the value, " or `, or 0 if it is bare.
func (v *Value) quote() byte {
	if len(v.raw) > 1 && (v.raw[0] == '"' || v.raw[0] == '`') {
		return v.raw[0]
	}
	return 0
}

// offset returns the offset in the file of byte i of the value.
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
			break // cannot happen: the value was unquoted before
		}
		n := 1 // an escape such as \xff is one byte
		if multibyte {
			n = utf8.RuneLen(r)
		}
		if done+n > i {
			break // inside the bytes of an escape
		}
		done, rest = done+n, tail
	}
	return v.start + len(v.raw) - 1 - len(rest)
}

// at returns the index of the byte at a line and column, both from 1. Columns count characters, as
// in CEL. A position after the end is the end.
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
