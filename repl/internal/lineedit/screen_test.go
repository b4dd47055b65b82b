package lineedit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/internal/testing/vt"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// terminal connects a Screen to an emulator. Like a terminal driver, it adds a carriage return to each
// line feed.
type terminal struct {
	*Screen
	shown         *vt.Screen
	width, height int
}

func newTerminal(width, height int) *terminal {
	t := &terminal{shown: vt.New(width, height), width: width, height: height}
	t.Screen = NewScreen(t, func() (int, int) { return t.width, t.height })
	return t
}

func (t *terminal) Write(p []byte) (int, error) {
	return t.shown.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
}

// wrapped returns the rows of text on a screen, and the position after its first n characters.
func wrapped(text string, n, width int) (rows []string, row, column int) {
	rows = []string{""}
	used, at := 0, 0
	place := func() { row, column = len(rows)-1, used }
	for _, r := range text {
		w := termwidth.Width(string(r))
		if used+w > width {
			rows, used = append(rows, ""), 0
		}
		if at == n {
			place()
		}
		rows[len(rows)-1] += string(r)
		used += w
		at++
	}
	if used == width {
		rows, used = append(rows, ""), 0
	}
	if at == n {
		place()
	}
	return rows, row, column
}

func TestScreen(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 45))
	for _, size := range [][2]int{{80, 24}, {20, 6}, {7, 9}, {40, 40}, {3, 4}} {
		term := newTerminal(size[0], size[1])
		text := []rune{}
		for i := range 3000 {
			switch random.IntN(12) {
			case 0:
				text = text[:random.IntN(len(text)+1)]
			case 1:
				text = append(text, []rune(strings.Repeat("0123456789", random.IntN(9)))...)
			default:
				text = append(text, []rune(`ab日"👍é(`)[random.IntN(7)])
			}
			pos := random.IntN(len(text) + 1)
			below := make([]string, random.IntN(4))
			for j := range below {
				below[j] = strings.Repeat(fmt.Sprint(j), random.IntN(size[0]))
			}
			prompt := "p> "[:random.IntN(min(4, size[0]))]
			term.Paint(Frame{Prompt: prompt, Text: string(text), Bold: i%2 == 0, Pos: pos, Below: func(_, height int) []string {
				return below[:min(len(below), height)]
			}})
			term.check(t, fmt.Sprintf("%v, frame %d", size, i), prompt+string(text), len(prompt)+pos, below)
			if t.Failed() {
				return
			}
			if random.IntN(20) == 0 {
				term.Clear()
			}
		}
	}
}

func (t *terminal) check(tb testing.TB, what, text string, pos int, below []string) {
	tb.Helper()
	want, row, column := wrapped(text, pos, t.width)
	for i, text := range want {
		want[i] = strings.TrimRight(text, " ")
	}
	shown := append(t.shown.All(), make([]string, t.height+len(want)+len(below))...)
	cursor, atColumn := t.shown.Cursor()
	first := len(t.shown.All()) // where the row of the cursor is in shown
	screen := t.shown.Rows()
	first += cursor - len(screen)
	if atColumn != column {
		tb.Errorf("%s: the cursor is in column %d, want %d of %q", what, atColumn, column, text)
	}
	visible := len(want)
	if visible+len(below) > t.height { // only some rows are on the screen
		if shown[first] != want[row] {
			tb.Errorf("%s: the row of the cursor is %q, want %q", what, shown[first], want[row])
		}
		return
	}
	got := shown[first-row : first-row+visible+len(below)]
	if diff := cmp.Diff(append(want, below...), got); diff != "" {
		tb.Errorf("%s: -want +got\n%s", what, diff)
	}
	if rest := strings.Join(shown[first-row+visible+len(below):], ""); rest != "" {
		tb.Errorf("%s: below is %q", what, rest)
	}
	if row < first && strings.HasPrefix(shown[first-row-1], "p>") {
		tb.Errorf("%s: above is %q", what, shown[first-row-1])
	}
}

func TestScreenEntered(t *testing.T) {
	t.Parallel()
	term := newTerminal(10, 5)
	below := func(_, _ int) []string { return []string{"below"} }
	term.Paint(Frame{Prompt: "> ", Text: "1 + 1234", Pos: 3, Below: below})
	term.Paint(Frame{Prompt: "> ", Text: "1 + 1234", Pos: 8, Below: below, Entered: true})
	if diff := cmp.Diff([]string{"> 1 + 1234"}, term.shown.Rows()); diff != "" {
		t.Error(diff)
	}
	if row, column := term.shown.Cursor(); row != 1 || column != 0 {
		t.Errorf("the cursor is at %d, %d", row, column)
	}
	term.Clear()
	term.Paint(Frame{Prompt: "> "})
	if diff := cmp.Diff([]string{"> 1 + 1234", ">"}, term.shown.Rows()); diff != "" {
		t.Error(diff)
	}
	_, _ = term.Screen.Write([]byte("\x1b[H")) // Ctrl-L of readline
	term.Paint(Frame{Prompt: "> "})
	if diff := cmp.Diff([]string{">"}, term.shown.Rows()); diff != "" {
		t.Error(diff)
	}
}
