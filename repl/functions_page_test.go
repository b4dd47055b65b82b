//go:build !window

// The page has the signatures of the newest release of cel-go. Tests with the tag window link older releases.

package repl

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
)

const (
	functionsPage  = "../docs/functions.md"
	functionsFrame = "testdata/functions_page.md"
	upgradingPage  = "../docs/versions.md"
)

// The page begins with testdata/functions_page.md, in which {{groups}} is replaced by an overview.
func TestFunctionsPage(t *testing.T) {
	t.Parallel()
	frame, err := os.ReadFile(functionsFrame)
	if err != nil {
		t.Fatal(err)
	}
	sections := functionSections()
	var overview, body strings.Builder
	for _, s := range sections {
		overview.WriteString(s.overview())
		body.WriteString(s.text(t))
	}
	got := strings.Replace(string(frame), "{{groups}}\n", overview.String(), 1) + body.String()
	if *update {
		if err := os.WriteFile(functionsPage, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(functionsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs from the index (-update rewrites it):\n%s", functionsPage, diff)
	}
}

// A function of several groups is in the section of the first.
type functionSection struct {
	assist.FunctionGroup
	entries []assist.FunctionEntry
}

func functionSections() (all []functionSection) {
	index := assist.FunctionIndex()
	for _, g := range assist.FunctionGroups() {
		s := functionSection{FunctionGroup: g}
		for _, e := range index {
			if e.Groups[0] == g.Name {
				s.entries = append(s.entries, e)
			}
		}
		all = append(all, s)
	}
	return all
}

func (s *functionSection) overview() string {
	title, entries := fmt.Sprintf("[%s](#%s)", s.Title, strings.ReplaceAll(strings.ToLower(s.Title), " ", "-")), s.entries
	if len(entries) == 0 {
		title = s.Title + ", in other sections"
		entries = slices.DeleteFunc(assist.FunctionIndex(), func(e assist.FunctionEntry) bool { return !slices.Contains(e.Groups, s.Name) })
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = "`" + e.Name + "`"
	}
	return "- " + title + ": " + strings.Join(names, ", ") + "\n"
}

// Operators are in a table, because a heading without letters has no anchor.
func (s *functionSection) text(t *testing.T) string {
	t.Helper()
	if len(s.entries) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n", s.Title)
	if isOperator(&s.entries[0]) {
		b.WriteString("\n| | Description | Example | Value | Cost | Estimate |\n|---|---|---|---|---|---|\n")
	}
	for _, e := range s.entries {
		example := e.Examples[0]
		if isOperator(&e) {
			row := []string{"`" + e.Name + "`", e.Description, "`" + example.Expr + "`", "`" + example.Value + "`", phrase.Number(example.Cost), estimateText(t, example.Expr)}
			for i := range row {
				row[i] = strings.ReplaceAll(row[i], "|", `\|`)
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n%s\n```cel\n%s\n// %s; cost %s, estimate %s\n```\n", e.Name, e.Description, formsText(e.Name),
			example.Expr, example.Value, phrase.Number(example.Cost), estimateText(t, example.Expr))
	}
	return b.String()
}

func formsText(name string) string {
	var b strings.Builder
	f := (&assist.Functions{}).Of(name, nil, "")
	for _, form := range f.Forms {
		since := ""
		if form.Since != fmt.Sprintf("1.%d or before", types.Oldest) {
			since = ", " + form.Since
		}
		fmt.Fprintf(&b, "- `%s`%s\n", form.Signature, since)
	}
	return b.String()
}

func estimateText(t *testing.T, src string) string {
	t.Helper()
	s, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Eval(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return phrase.Range(a.Estimate.Min, a.Estimate.Max)
}

func TestFunctionSections(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range functionSections() {
		for _, e := range s.entries {
			names = append(names, e.Name)
		}
	}
	for _, e := range assist.FunctionIndex() {
		if !slices.Contains(names, e.Name) {
			t.Errorf("%s is in no section", e.Name)
		}
	}
}

func TestNewFunctions(t *testing.T) {
	t.Parallel()
	const header = "| Kubernetes | new functions and macros | new forms of |\n|---|---|---|\n"
	page, err := os.ReadFile(upgradingPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), header)
	_, after, ended := strings.Cut("\n"+rest, "\n\n")
	if !ok || !ended {
		t.Fatalf("%s has no table of functions", upgradingPage)
	}
	var rows strings.Builder
	for _, v := range types.Versions() {
		added, extended := functionsOf(v)
		if v.Minor > types.Oldest && len(added)+len(extended) > 0 {
			fmt.Fprintf(&rows, "| %s | %s | %s |\n", v, strings.Join(added, ", "), strings.Join(extended, ", "))
		}
	}
	got := before + header + rows.String() + "\n" + after
	if *update {
		if err := os.WriteFile(upgradingPage, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(page), got); diff != "" {
		t.Errorf("%s differs from the functions (-update rewrites it):\n%s", upgradingPage, diff)
	}
}

func functionsOf(v types.Version) (added, extended []string) {
	k := &assist.Functions{}
	for _, name := range k.Names(nil, "") {
		forms := k.Of(name, nil, "").Forms
		inVersion := func(f assist.Form) bool { return f.Since == "since "+v.String() }
		switch {
		case k.Since(name) == v.String():
			added = append(added, "`"+name+"`")
		case slices.ContainsFunc(forms, inVersion):
			extended = append(extended, "`"+name+"`")
		}
	}
	return added, extended
}
