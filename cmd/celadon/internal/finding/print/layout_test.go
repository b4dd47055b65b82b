package print

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/internal/text/untrusted"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

const report = `Warning: unknown field "spec.a b"
  --> crontab.yaml:3:1: metadata
    3 | metadata: {name: a}
      | ^
The CronTab "nightly backup" is invalid: spec: Invalid value: replicas is 11, more than maxReplicas: 10, and the 日本語 are wide
  --> dir/crontab.yaml:7:3: spec.replicas
    7 |   replicas: 11 # a long comment that is not folded, because the caret below would then point elsewhere
      |   ^
        rule: self.replicas <= self.maxReplicas ||
              has(self.unlimited) && self.unlimited == true && self.reason != ''
          self.replicas: 11
          self.a ? 'b: c' : d["e: f"]: {"g":"h: i"}
          values not shown: too much work
  --> policy limits, binding limits, spec.validations[0]: Deny
        expression: object.spec.replicas <= 5
          object.spec.replicas: 11
  changed rule: rejects more
    --> old.yaml:3 and new.yaml:4
    - self.a > 1
    + self.a > 2
    accepted before, rejected now:
      apiVersion: example.com/v1
      kind: A
      metadata:
        annotations:
          a: a long value with many words that a user copies together with the rest of the object
      spec:
        rule: x
      spec.a: 1 is less than 2, and this is a long message about it
averyveryveryveryveryveryveryveryverylongwordthatdoesnotfitintothewidthofaterminalbuthasnospaces and more
3 objects checked: 1 valid, 2 invalid; 4 skipped (2 Deployment, 1 Service, 1 Secret); 2 unreadable; 1 undecided
`

// TestLayout rewrites its golden files if UPDATE_LAYOUT=1 is set.
func TestLayout(t *testing.T) {
	t.Parallel()
	text := strings.Replace(report, "The CronTab", string(untrusted.Red)+"The CronTab", 1)
	text = strings.Replace(text, "are wide", "are wide"+endColor, 1)
	text = string(untrusted.Paint(untrusted.Yellow, "Warning:")) + strings.TrimPrefix(text, "Warning:")
	for _, l := range []Layout{{}, {Color: true}, {Width: 40}, {Color: true, Width: 40}, {Color: true, Width: 60}, {Width: 80}, {Color: true, Width: 80}, {Width: 120}, {Color: true, Width: 120}} {
		name := fmt.Sprintf("%d", l.Width)
		from := report
		if l.Color {
			name, from = name+"-color", text
		}
		got := l.Text(from)
		golden := filepath.Join("testdata", "layout", name+".txt")
		if os.Getenv("UPDATE_LAYOUT") != "" {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		plain := colorForm.ReplaceAllString(got, "")
		if words := strings.Join(strings.Fields(plain), " "); words != strings.Join(strings.Fields(report), " ") {
			t.Errorf("%s: other words: %s", name, words)
		}
		if !l.Color && strings.Contains(got, "\x1b") {
			t.Errorf("%s: colors", name)
		}
		checkFolded(t, l, got)
	}
}

var colorForm = regexp.MustCompile("\x1b\\[[0-9]*m")

func checkFolded(t *testing.T, l Layout, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		plain := strings.TrimSpace(colorForm.ReplaceAllString(line, ""))
		isWhole := strings.Contains(line, "|") || strings.HasPrefix(plain, "a: a long value") || !strings.Contains(plain, " ")
		if n := termwidth.Width(line); l.Width > 0 && n > l.Width && !isWhole {
			t.Errorf("%d columns of %d: %s", n, l.Width, line)
		}
		if codes := colorForm.FindAllString(line, -1); len(codes) > 0 && codes[len(codes)-1] != endColor {
			t.Errorf("the color does not end: %q", line)
		}
	}
}

func TestLayoutOfColoredLines(t *testing.T) {
	t.Parallel()
	const text = "\x1b[31ma b:\n* c d e f\x1b[0m\nend\n"
	const want = "\x1b[31ma b:\x1b[0m\n\x1b[31m* c d\x1b[0m\n  \x1b[31me f\x1b[0m\nend\n"
	if got := (Layout{Color: true, Width: 6}).Text(text); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzLayout(f *testing.F) {
	f.Add(report, 40)
	f.Add("\x1b[31m a\nb \x1b[0m", 1)
	f.Add("  --> :1\n        rule: \n", 3)
	f.Fuzz(func(t *testing.T, text string, width int) {
		got := Layout{Color: true, Width: max(0, width)}.Text(text)
		strip := func(s string) string { return strings.Join(strings.Fields(colorForm.ReplaceAllString(s, "")), "") }
		if strip(got) != strip(text) {
			t.Errorf("got %q for %q", got, text)
		}
	})
}

func BenchmarkLayout(b *testing.B) {
	for b.Loop() {
		_ = Layout{Color: true, Width: 80}.Text(report)
	}
}

// Users copy objects, so no line of one is folded.
func TestObjectsAreNotFolded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(" word", 10)
	text := "    apiVersion: v1\n    items:\n    - a:" + long + "\n    - b\n    x-y:" + long + "\n    text: |\n      a\n    \n     " + long + "\n"
	if got := (Layout{Width: 40}).Text(text); got != text {
		t.Errorf("got\n%s", got)
	}
	if after := text + "a" + long + "\n"; (Layout{Width: 40}).Text(after) == after {
		t.Error("the line after the object is not folded")
	}
}
