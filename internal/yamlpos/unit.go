package yamlpos

import "unicode/utf8"

// OffsetUTF16 is where a line's UTF-16 column is in the text, both from 1, as
// Position gives them. Beyond the line it is the line's end, beyond the text the
// text's; within a character it is where that begins.
func (d *Document) OffsetUTF16(line, column int) int {
	at := d.Offset(line, 1)
	end := d.Offset(line, len(d.text)+1)
	for units := column - 1; units > 0 && at < end; {
		r, size := utf8.DecodeRuneInString(d.text[at:end])
		if units--; r > 0xffff {
			units--
		}
		if units < 0 {
			break
		}
		at += size
	}
	return at
}

// SourcePoint is Source for a code point of the value, from 0, as CEL counts.
func (t *Text) SourcePoint(point int) int {
	i := 0
	for range point {
		_, size := utf8.DecodeRuneInString(t.node.Value[i:])
		i += size
	}
	return t.Source(i)
}

// Point is Value in code points.
func (t *Text) Point(offset int) int { return utf8.RuneCountInString(t.node.Value[:t.Value(offset)]) }
