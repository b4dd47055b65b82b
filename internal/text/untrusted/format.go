package untrusted

import (
	"bytes"
	"fmt"
	"io"
)

// Sprintf is like fmt.Sprintf, but escapes each argument that is not Own so that it stays on a
// single line. %q is unchanged.
func Sprintf(format string, args ...any) Own { return Own(fmt.Sprintf(format, kept(args)...)) }

// Fprintf writes the result of Sprintf to w.
func Fprintf(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, format, kept(args)...)
}

func kept(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case Own, int, int32, int64, uint64, float64:
			out[i] = arg
		case string:
			out[i] = line(arg)
		default:
			out[i] = line(fmt.Sprint(arg))
		}
	}
	return out
}

// A line is a string that is formatted like Line.
type line string

func (l line) Format(s fmt.State, verb rune) {
	text := string(l)
	if verb != 'q' {
		text = string(Line(text))
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), text)
}

// Colour is a color or weight of terminal text.
type Colour string

// Supported colors.
const (
	Red    Colour = "\x1b[31m"
	Green  Colour = "\x1b[32m"
	Yellow Colour = "\x1b[33m"
	Bold   Colour = "\x1b[1m"
	none   Colour = "\x1b[0m"
)

// Paint colors a text. Only a Writer with Colours set passes the color.
func Paint(c Colour, text Own) Own { return Own(c) + text + Own(none) }

// Paint colors a text if w passes colors.
func (w *Writer) Paint(c Colour, text Own) Own {
	if !w.Colours {
		return text
	}
	return Paint(c, text)
}

// paint returns the length of the color sequence that text begins with, or 0.
func paint(text []byte) int {
	if len(text) == 0 || text[0] != '\x1b' {
		return 0
	}
	for _, c := range []Colour{Red, Green, Yellow, Bold, none} {
		if bytes.HasPrefix(text, []byte(c)) {
			return len(c)
		}
	}
	return 0
}
