package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxWords is the maximum number of words on a page, without code and tables.
const maxWords = 2500

// references lists the pages in which readers look up an entry, such as a flag of check.
var references = []string{"functions.md", "lints.md", "recipes.md", "errors.md", "check.md"}

var (
	span    = regexp.MustCompile("`[^`]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#+ (.+)$`)
	markup  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)
)

// TestLinks checks that the links of all Markdown files lead to a file and a heading of the repository, and that no
// page is too long to read.
func TestLinks(t *testing.T) {
	t.Parallel()
	anchors := map[string]map[string]bool{}
	pages := 0
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata", "bin", "site"}, entry.Name()) {
			return filepath.SkipDir
		}
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		pages++
		text := prose(t, name)
		for _, m := range link.FindAllStringSubmatch(span.ReplaceAllString(text, ""), -1) {
			file, anchor, found := strings.Cut(m[1], "#")
			if strings.Contains(file, ":") {
				continue
			}
			target := filepath.Join(filepath.Dir(name), file)
			if file == "" {
				target = name
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: no such file", name, m[1])
				continue
			}
			if !found || filepath.Ext(target) != ".md" {
				continue
			}
			if anchors[target] == nil {
				anchors[target] = anchorsOf(prose(t, target))
			}
			if !anchors[target][anchor] {
				t.Errorf("%s: %s: no such heading", name, m[1])
			}
		}
		if n := words(text); filepath.Dir(name) == "../docs" && n > maxWords && !slices.Contains(references, filepath.Base(name)) {
			t.Errorf("%s has %d words, want at most %d", name, n, maxWords)
		}
		return nil
	})
	if err != nil || pages < 30 {
		t.Fatalf("%d pages: %v", pages, err)
	}
}

// prose returns a page without its blocks of code.
func prose(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	code := false
	for line := range strings.Lines(string(data)) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if code = code != fence; !code && !fence {
			b.WriteString(line)
		}
	}
	return b.String()
}

// anchorsOf returns the anchors that GitHub makes of the headings of a page.
func anchorsOf(text string) map[string]bool {
	anchors := map[string]bool{}
	for line := range strings.Lines(text) {
		if m := heading.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			title := dropped.ReplaceAllString(strings.ToLower(markup.ReplaceAllString(m[1], "$1")), "")
			anchors[strings.ReplaceAll(title, " ", "-")] = true
		}
	}
	return anchors
}

func words(text string) (n int) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			n += len(strings.Fields(line))
		}
	}
	return n
}
