package repl

import (
	"context"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

func TestNarrow(t *testing.T) {
	for _, c := range []struct{ line, has string }{
		{":help", ":optionalOldSelf"},
		{":ls", "schedule"},
		{":rules", "self.replicas <="},
		{":rules all", "spec.env"},
		{":explain self.env.all(e, e.name.matches('^[A-Z]+$')) && self.replicas > 3", "e.name.mat"},
		{"self.env.all(e, e.value == 'a very long text that is not there' && e.name != '')", "e.value"},
		{"self.env", "TARGET"},
		{":funcs", "startsWith"},
		{":funcs split", "split"},
		{":funcs quantity", "compareTo"},
		{":funcs version", "semver"},
		{":help add", "Adds a rule"},
		{"self.replicas = 1", "hint"},
		{":advice", "all rules"},
		{":cd nope", "error"},
		{":add self.image == 'x' && self.suspended", "note"},
		{":add self.env.all(a, self.env.exists_one(b, b.name == a.name && a.name == b.name && a.name != ''))", "rule"},
		{"self.suspended", "hint"},
		{":cost self.image.contains(self.schedule)", "estimate"},
	} {
		for _, width := range []int{120, 80, 40, 30} {
			s := crontab(t)
			must(t, s, ":cd spec")
			s.Width = width
			if w := runewidth.StringWidth(s.Prompt()); w > width/2+2 {
				t.Errorf("the prompt %q takes %d of %d columns", s.Prompt(), w, width)
			}
			text := s.Do(context.Background(), c.line).Text
			if !strings.Contains(text, c.has) {
				t.Errorf("%s: no %q on %d columns:\n%s", c.line, c.has, width, text)
			}
			for line := range strings.Lines(text) {
				if w := runewidth.StringWidth(strings.TrimRight(line, "\n")); w > width && len(strings.Fields(line)) > 1 {
					t.Errorf("%s: %d of %d columns: %q", c.line, w, width, line)
				}
			}
		}
	}
}

func TestCaret(t *testing.T) {
	for _, src := range []string{
		"self.nope", "'日本語' == self.nope && true", "true &&\n  '日本語日本語日本語日本語日本語日本語' == self.nope",
		strings.Repeat("self.replicas > 1 && ", 9) + "self.nope > 1" + strings.Repeat(" && self.replicas > 1", 9),
	} {
		for _, width := range []int{0, 80, 40, 20} {
			s := crontab(t)
			must(t, s, ":cd spec")
			s.Width = width
			reply := s.Do(context.Background(), src)
			if s.partial != "" {
				reply = s.End(context.Background())
			}
			lines := strings.Split(reply.Text, "\n")
			for i := range lines {
				if strings.TrimLeft(lines[i], " ") != "^" {
					continue
				}
				column := runewidth.StringWidth(lines[i]) - 1
				before := runewidth.Truncate(lines[i-1], column, "")
				if after := strings.TrimPrefix(lines[i-1], before); !strings.HasPrefix(after, ".") || width > 0 && runewidth.StringWidth(lines[i-1]) > width {
					t.Errorf("%d columns: %q is marked at %q", width, lines[i-1], after)
				}
				lines = nil
				break
			}
			if lines != nil {
				t.Errorf("%s: no caret: %s", src, reply.Text)
			}
		}
	}
}
