package assist

import (
	"slices"
	"strings"
	"testing"
)

func TestFunctionIndex(t *testing.T) {
	t.Parallel()
	var k Functions
	names := k.Names(nil, "")
	for _, name := range names {
		f := k.Of(name, nil, "")
		if f == nil || len(f.Forms) == 0 || f.Summary == "" || f.Description == "" || len(f.Examples) == 0 {
			t.Errorf("%s: the entry is incomplete: %+v", name, f)
		}
	}
	var groups, used, seen []string
	for _, g := range FunctionGroups() {
		groups = append(groups, g.Name)
	}
	for _, e := range FunctionIndex() {
		if operator := slices.Contains(e.Groups, "operators"); !operator && !slices.Contains(names, e.Name) {
			t.Errorf("%s: no such function", e.Name)
		}
		if slices.Contains(seen, e.Name) {
			t.Errorf("%s: two entries", e.Name)
		}
		seen, used = append(seen, e.Name), append(used, e.Groups...)
		for _, g := range e.Groups {
			if !slices.Contains(groups, g) {
				t.Errorf("%s: unknown group %q", e.Name, g)
			}
		}
		if n := len(e.Summary); n == 0 || n > 48 || strings.HasSuffix(e.Summary, ".") {
			t.Errorf("%s: summary %q: want at most 48 letters without a full stop", e.Name, e.Summary)
		}
		if n := strings.Count(e.Description, ". ") + 1; !strings.HasSuffix(e.Description, ".") || n > 4 {
			t.Errorf("%s: description %q: want one to four sentences", e.Name, e.Description)
		}
		if len(e.Examples) == 0 {
			t.Errorf("%s: no example", e.Name)
		}
	}
	for _, g := range groups {
		if !slices.Contains(used, g) {
			t.Errorf("group %s is empty", g)
		}
	}
}
