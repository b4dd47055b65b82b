package repl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// randomKeys are parts of random input: text, keys, and sequences that no key sends. Ctrl-Z is missing,
// because it would stop the tests.
var randomKeys = []string{
	"self", ".", "spec", "s", "e", "replicas", "(", ")", "'", "[", "]", " ", "+", "1", "é", "日本", "👍", "👨‍👩‍👧", "e\u0301", ":", ":s", ":cd ", ":add ", "in ", "all(e, ",
	"\t", "\t\t", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[Z", "\x1b[H", "\x1b[F", "\x1b[3~", "\x1b[1;5C", "\x1b[1;5D", "\x1bOA", "\x1bOB", "\x1b", "\x1bb", "\x1bf", "\x1bd", "\x1b\x7f",
	"\x01", "\x02", "\x04", "\x05", "\x06", "\x07", "\x08", "\x0b", "\x0c", "\x0e", "\x10", "\x12", "\x13", "\x14", "\x15", "\x17", "\x19", "\x7f", "\r", "\n", "\x03",
	"\x00", "\x11", "\x1b[", "\x1b[9", "\x1b[200~a\tb\x1b[201~", "\x1b[200~", "\xff", "\xe6", "\x1b[99;99R", "\x1c",
	strings.Repeat("0123456789", 12), strings.Repeat("x", 61),
}

func TestTerminalRandomKeys(t *testing.T) {
	t.Parallel()
	sequences := 250
	switch {
	case level.Long():
		sequences = 1000
	case testing.Short():
		sequences = 60
	}
	c := openTTY(t, crontab(t), TerminalConfig{Color: true})
	random := rand.New(rand.NewPCG(45, 2))
	sizes := [][2]int{{80, 24}, {40, 10}, {20, 5}, {132, 50}, {40, 7}, {25, 3}}
	width, height := 80, 24
	for i := range sequences {
		var text strings.Builder
		for range 1 + random.IntN(25) {
			text.WriteString(randomKeys[random.IntN(len(randomKeys))])
		}
		keys := text.String()
		c.log = fmt.Sprintf("sequence %d: %q", i, keys)
		if i%10 == 9 {
			size := sizes[random.IntN(len(sizes))]
			width, height = size[0], size[1]
			c.resize(width, height)
		}
		previews := i%8 == 0
		if previews { // a pause in the middle
			half := random.IntN(len(keys))
			c.press(keys[:half])
			time.Sleep(2 * previewPause)
			keys = keys[half:]
		}
		c.press(keys)
		c.works(previews && height >= minPreviewRows, width)
	}
	if unknown := c.screen.Unknown(); len(unknown) > 0 {
		t.Errorf("unknown sequences: %q", unknown[:min(len(unknown), 10)])
	}
}

// works discards the line, and checks that an expression is displayed and evaluated. It tries again,
// because the terminal drops a Ctrl-C that arrives while a command runs, with all keys before it, and
// because a busy machine can be late.
func (c *fakeTTY) works(previews bool, width int) {
	c.t.Helper()
	const line = "1 + 1"
	below := []string{c.cut("2 : integer; cost 1", width)}
	for pause := 300 * time.Millisecond; pause < waitsFor; pause *= 2 {
		c.press("\x03" + line)
		if _, on := c.prompt(); !previews || !on {
			below = append(below, "")
		}
		if !c.shows(line, pause, below...) {
			continue
		}
		c.press("\r")
		if c.replied(line, "2", pause) {
			return
		}
	}
	row, column := c.screen.Cursor()
	c.t.Fatalf("%s: the cursor is at row %d, column %d, want %q and its reply:\n%s", c.log, row, column, line, strings.Join(c.screen.Rows(), "\n"))
}

func (c *fakeTTY) cut(text string, width int) string { return "  " + termwidth.Cut(text, width-3) }
