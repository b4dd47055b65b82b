package untrusted

import (
	"bytes"
	"fmt"
	"io"
)

// Sprintf is like fmt.Sprintf, but escapes each argument that is not Safe so that it stays on a
// single line. %q is unchanged.
func Sprintf(format string, args ...any) Safe { return Safe(fmt.Sprintf(format, escapeAll(args)...)) }

// Fprintf writes the result of Sprintf to w.
func Fprintf(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, format, escapeAll(args)...)
}

func escapeAll(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case Safe, int, int32, int64, uint64, float64:
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

// Color is a color or weight of terminal text.
type Color string

// Supported colors.
const (
	Red     Color = "\x1b[31m"
	Green   Color = "\x1b[32m"
	Yellow  Color = "\x1b[33m"
	Blue    Color = "\x1b[34m"
	Magenta Color = "\x1b[35m"
	Cyan    Color = "\x1b[36m"
	Bold    Color = "\x1b[1m"
	none    Color = "\x1b[0m"
)

// Paint colors a text. Only a Writer with Colors set passes the color.
func Paint(c Color, text Safe) Safe { return Safe(c) + text + Safe(none) }

// Paint colors a text if w passes colors.
func (w *Writer) Paint(c Color, text Safe) Safe {
	if !w.Colors {
		return text
	}
	return Paint(c, text)
}

// paint returns the length of the color sequence that text begins with, or 0.
func paint(text []byte) int {
	if len(text) == 0 || text[0] != '\x1b' {
		return 0
	}
	for _, c := range []Color{Red, Green, Yellow, Blue, Magenta, Cyan, Bold, none} {
		if bytes.HasPrefix(text, []byte(c)) {
			return len(c)
		}
	}
	return 0
}
