package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

func comment(t *testing.T, r *Report) string {
	t.Helper()
	for _, crd := range r.CRDs {
		r.Summary.count(crd)
	}
	r.seal()
	var out bytes.Buffer
	if err := (&markdownPrinter{out: untrusted.NewWriter(&out), limits: shortComment}).end(r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCommentLimits(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 5, 23, 24, 25, 100, 5000} {
		for _, size := range []int{1, 4, 200} {
			crd := &CRD{Name: "as.example.com", NewFile: "a.yaml"}
			r := &Report{CRDs: []*CRD{crd, {Name: "bs.example.com"}}, Objects: make([]*finding.Object, n/10)}
			spec := map[string]any{}
			for i := range size {
				spec[fmt.Sprintf("f%d", i)] = strings.Repeat("x", size)
			}
			for i := range r.Objects {
				r.Objects[i] = &finding.Object{Upgrade: &finding.Upgrade{}}
			}
			for i := range n {
				w := &Witness{Object: map[string]any{"spec": spec}}
				rule := strings.Repeat("\x60]\n", 1000)
				crd.Changes = append(crd.Changes,
					&Change{Version: "v1", Path: fmt.Sprintf("spec.a%d", i), Subject: "rule", New: rule, Effect: compare.Breaking, By: compare.ByWitness, Rejected: w},
					&Change{Version: "v1", Path: fmt.Sprintf("spec.b%d", i), Subject: "bound", Effect: compare.Unknown, By: compare.BySearch},
					&Change{Version: "v1", Path: fmt.Sprintf("spec.c%d", i), Subject: "field", Effect: compare.Breaking, By: compare.ByWitness, Allowed: rule})
			}
			text := comment(t, r)
			if lines := strings.Count(text, "\n"); lines > shortComment.lines || len(text) > shortComment.bytes {
				t.Errorf("%d changes, %d fields: %d lines, %d bytes", n, size, lines, len(text))
			}
			for i := range min(n, shortComment.listed-min(n/10, shortComment.objects)) {
				if !strings.Contains(text, fmt.Sprintf("spec.a%d:", i)) {
					t.Errorf("%d changes: spec.a%d is missing:\n%s", n, i, text)
				}
			}
			rest := 3*n + n/10 - shortComment.listed
			if want := fmt.Sprintf("- and %d more: ", rest); (rest > 0) != strings.Contains(text, want) {
				t.Errorf("%d changes: want %q:\n%s", n, want, text)
			}
		}
	}
}

func TestCommentBytes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("\U000e0041", 1000), strings.Repeat("`", 1000), strings.Repeat("`x", 500), strings.Repeat("😀", 1000), "@x\n\n[a](http://b)\n" + strings.Repeat("<!--", 200)} {
		crd := &CRD{Name: text, NewFile: text}
		r := &Report{CRDs: []*CRD{crd}}
		for range 40 {
			w := &Witness{Operation: "update", Object: map[string]any{"a": text}, Causes: []finding.Cause{{Field: text, Message: text}}}
			crd.Changes = append(crd.Changes, &Change{Version: text, Path: text, Subject: "rule", Old: text, New: text, Effect: compare.Breaking, NewLine: 1, Rejected: w},
				&Change{Version: text, Path: text, Subject: "bound", Old: text, New: text, Effect: compare.Unknown, By: compare.BySearch, NewLine: 1},
				&Change{Version: text, Path: text, Subject: "rule", Old: text, Effect: compare.Breaking, Allowed: text})
			r.Objects = append(r.Objects, &finding.Object{Identity: finding.Identity{Name: "own"}, Upgrade: &finding.Upgrade{Before: finding.Valid, Now: finding.Invalid}})
		}
		comment := comment(t, r)
		if len(comment) > shortComment.bytes || strings.Count(comment, "\n") > shortComment.lines {
			t.Errorf("%.20q: %d bytes, %d lines", text, len(comment), strings.Count(comment, "\n"))
		}
		if own, change := strings.Index(comment, "own"), strings.Index(comment, "**breaks**"); own < 0 || change >= 0 && change < own {
			t.Errorf("%.20q: the objects are not first:\n%s", text, comment)
		}
		if outside := outsideCode(comment); strings.ContainsAny(outside, "`@[") || strings.Contains(outside, "<!--") {
			t.Errorf("%.20q: outside of code:\n%s", text, outside)
		}
	}
}

// outsideCode assumes that code spans end on their lines.
func outsideCode(markdown string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(markdown) {
		bare := strings.TrimRight(strings.TrimSpace(line), "abcdefghijklmnopqrstuvwxyz")
		switch marks := strings.Repeat("`", len(bare)); {
		case fence != "":
			if bare == fence {
				fence = ""
			}
			continue
		case len(bare) >= 3 && bare == marks:
			fence = marks
			continue
		}
		for line != "" {
			before, rest, _ := strings.Cut(line, "`")
			b.WriteString(before)
			if line = rest; rest == "" {
				break
			}
			n := 1 + len(rest) - len(strings.TrimLeft(rest, "`"))
			marks := strings.Repeat("`", n)
			end := n - 1
			for ; ; end++ { // the next run of the same length
				i := strings.Index(rest[end:], marks)
				if i < 0 {
					b.WriteString("`")
					break
				}
				run := len(rest[end+i:]) - len(strings.TrimLeft(rest[end+i:], "`"))
				if end += i + run - 1; run == n {
					line = rest[end+1:]
					break
				}
			}
		}
	}
	return b.String() + fence
}

// TestCommentHistory compares the releases of real projects in the folder CELADON_HISTORY.
func TestCommentHistory(t *testing.T) {
	t.Parallel()
	root := os.Getenv("CELADON_HISTORY")
	if root == "" {
		t.Skip("set CELADON_HISTORY to a folder with a folder of CRDs for each release of each project")
	}
	projects, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, project := range projects {
		releases, _ := filepath.Glob(filepath.Join(root, project.Name(), "v*"))
		byVersion := map[string]string{}
		var versions []string
		for _, release := range releases {
			versions = append(versions, filepath.Base(release))
			byVersion[filepath.Base(release)] = release
		}
		slices.SortFunc(versions, func(a, b string) int { return slices.Compare(numbers(a), numbers(b)) })
		for i := 1; i < len(versions); i++ {
			steps++
			old, now := byVersion[versions[i-1]], byVersion[versions[i]]
			report := &Report{}
			if err := json.Unmarshal(run(t, "json", old, now), report); err != nil {
				t.Fatal(err)
			}
			text := string(run(t, "markdown", old, now))
			breaks, shown, p := 0, 0, &markdownPrinter{limits: shortComment}
			for _, crd := range report.CRDs {
				for _, c := range crd.Changes {
					if !c.Effect.Breaks() {
						continue
					}
					breaks++
					if strings.Contains(text, string("- "+p.code(crd.Name)+" "+p.code(string(c.title()))+" **breaks")) {
						shown++
					}
				}
			}
			lines := strings.Count(text, "\n")
			t.Logf("%-24s %7s to %-7s %2d lines, %2d examples, %2d of %2d breaks", project.Name(), versions[i-1], versions[i], lines, strings.Count(text, "<details>"), shown, breaks)
			if lines > shortComment.lines || shown < min(breaks, shortComment.listed) {
				t.Errorf("%s to %s: %d lines with %d of %d breaks:\n%s", old, now, lines, shown, breaks, text)
			}
		}
	}
	if steps == 0 {
		t.Errorf("%s has no releases", root)
	}
}

func run(t *testing.T, format, old, now string) []byte {
	t.Helper()
	var out, stderr bytes.Buffer
	o := &Options{Output: format, Steps: compare.DefaultSteps, Seed: 1}
	// The error determines the exit code. It is set if a change breaks an object.
	_ = Run(t.Context(), command.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr}, o, []string{old, now})
	if out.Len() == 0 {
		t.Fatalf("no output: %s", &stderr)
	}
	return out.Bytes()
}

func numbers(version string) (all []int) {
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		n, _ := strconv.Atoi(part)
		all = append(all, n)
	}
	return all
}
