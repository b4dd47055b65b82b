//go:build unix

package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// recordingSteps are the steps of the recording in the README. After each, the screen is a frame.
var recordingSteps = []struct {
	keys string
	// until is the text that the screen must contain after Enter, and the end of the cursor's row after
	// other keys. below is set if it is below the cursor.
	until string
	below bool
	// tenths is how long the frame is shown, in tenths of a second.
	tenths int
}{
	{"", "DatabaseCluster/v1>", false, 15},
	{":cd spec\r", "v1 spec>", false, 10},
	{"self.re", "self.re", false, 5},
	{"\t > 3", "false : boolean", true, 25},
	{"\r", "self.replicas  3", false, 20},
	{"self.", "self.", false, 5},
	{"\t\t\t", "The database engine", true, 25},
	{"\x07\x15:add storage.size >= 10Gi", ":add storage.size >= 10Gi", false, 12},
	{"\r", "try:  quantity(", false, 30},
	{":fix", ":fix", false, 6},
	{"\r", "rejects 2 of 5", false, 30},
	{":rules 0 --rejected", "--rejected", false, 8},
	{"\r", "ops/metrics", false, 30},
	{":save", ":save", false, 10},
	{"\r", "wrote ", false, 40},
}

const (
	recordedColumns, recordedRows = 84, 22
	recording                     = "../../docs/shell.svg"
)

func TestRecording(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../examples/database")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("celadon", "repl", ".")
	cmd.Dir = folder
	c := startConsole(t, []string{"XDG_STATE_HOME=" + t.TempDir(), "XDG_CONFIG_HOME=" + t.TempDir()}, cmd)
	c.resize(recordedColumns, recordedRows)
	var film svgFilm
	for _, step := range recordingSteps {
		for _, key := range step.keys {
			c.typed(string(key))
		}
		c.await(step.until, func() bool {
			at, _ := c.screen.Cursor()
			rows := c.screen.Rows()
			text := strings.Join(rows, "\n")
			switch {
			case step.below:
				return strings.Contains(strings.Join(rows[min(at+1, len(rows)):], "\n"), step.until)
			case strings.HasSuffix(step.keys, "\r"):
				return strings.HasSuffix(text, ">") && strings.Contains(text, step.until)
			}
			return strings.HasSuffix(c.row(0), step.until)
		})
		at, _ := c.screen.Cursor()
		film.add(c.screen.Rows(), at, step.below, step.tenths)
	}
	got := film.svg()
	if *update {
		if err := os.WriteFile(recording, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from a recording made now (-update writes it)", recording)
	}
}

type svgFilm struct {
	frames []string
	ends   []int // in tenths of a second
}

// add adds a screen. Rows below the cursor are left out unless below is set, because previews come
// after a pause.
func (f *svgFilm) add(rows []string, cursor int, below bool, tenths int) {
	if !below {
		rows = rows[:min(cursor+1, len(rows))]
	}
	var b strings.Builder
	for i, row := range rows {
		if row == "" {
			continue
		}
		class := ""
		switch {
		case i > cursor:
			class = ` class="dim"`
		case strings.HasPrefix(row, "error:"):
			class = ` class="bad"`
		case strings.HasPrefix(row, "  hint:"), strings.HasPrefix(row, "  try:"), strings.HasPrefix(row, "note:"):
			class = ` class="hint"`
		case strings.HasPrefix(row, "DatabaseCluster/"):
			class = ` class="line"`
		}
		fmt.Fprintf(&b, "<text x=\"16\" y=\"%d\"%s>%s</text>\n", 30+i*18, class, html.EscapeString(row))
	}
	f.frames = append(f.frames, b.String())
	end := tenths
	if n := len(f.ends); n > 0 {
		end += f.ends[n-1]
	}
	f.ends = append(f.ends, end)
}

func (f *svgFilm) svg() string {
	total := f.ends[len(f.ends)-1]
	width, height := 32+recordedColumns*8, 24+recordedRows*18
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="A session of celadon repl: an expression with its value, a mistake with its correction, and a rule with the objects that it rejects">
<style>
rect { fill: #1b1f24 }
text { fill: #d0d7de; font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre }
.line { fill: #ffffff } .dim { fill: #8b949e } .bad { fill: #ff7b72 } .hint { fill: #7ee787 }
g { visibility: hidden }
`, width, height)
	from := 0
	for i, end := range f.ends {
		// The frame is visible from its start to its end, in percent of the whole.
		fmt.Fprintf(&b, "#f%d { animation: f%d %d.%ds step-end infinite } @keyframes f%d { 0%% { visibility: %s } %s%% { visibility: visible } %s%% { visibility: hidden } }\n",
			i, i, total/10, total%10, i, map[bool]string{true: "visible", false: "hidden"}[i == 0], percent(from, total), percent(end, total))
		from = end
	}
	fmt.Fprintf(&b, "@media (prefers-reduced-motion: reduce) { g { animation: none !important } #f%d { visibility: visible } }\n</style>\n", len(f.frames)-1)
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" rx=\"8\"/>\n", width, height)
	for i, frame := range f.frames {
		fmt.Fprintf(&b, "<g id=\"f%d\">\n%s</g>\n", i, frame)
	}
	return b.String() + "</svg>\n"
}

func percent(part, whole int) string {
	n := part * 10_000 / whole
	return fmt.Sprintf("%d.%02d", n/100, n%100)
}
