package eval

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/types"
)

func expressions(t testing.TB, name string) []string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var lines []string
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		line := strings.TrimSpace(scanner.Text())
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func values(t testing.TB, name string) []any {
	t.Helper()
	var vals []any
	for _, doc := range strings.Split(read(t, name), "\n---\n") {
		vals = append(vals, decode(t, doc))
	}
	return vals
}

// limits returns cost limits up to cost: all of the first 40, then a selection.
func limits(cost uint64) []int64 {
	var out []int64
	for n := int64(0); n <= int64(cost); n++ {
		if n > 40 {
			n += 1 + n/4
		}
		out = append(out, n)
	}
	return out
}

func TestDifferential(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	decl := declare(t, read(t, "testdata/schema.yaml"))
	vals := values(t, "testdata/values.yaml")
	for _, optional := range []bool{false, true} {
		env := environment(t, decl, optional)
		table := "testdata/expressions.txt"
		if optional {
			table = "testdata/optional.txt"
		}
		for _, src := range expressions(t, table) {
			s, err := newSubject(env, decl, src)
			if err != nil {
				t.Errorf("%s\n%v", src, err)
				continue
			}
			if !s.usesOurs() {
				t.Errorf("%s\nleft to cel-go", src)
			}
			compareAll(t, s, src, decl, vals, optional)
		}
	}
}

func compareAll(t *testing.T, s *subject, src string, decl *types.Decl, vals []any, optional bool) {
	t.Helper()
	old := vals[0]
	for i, self := range vals {
		bindings := []func() *Activation{
			func() *Activation { return BindOld(decl, self, old) },
			func() *Activation { return BindOld(decl, self, nil) },
			func() *Activation { return Bind(decl, self) },
		}
		if !strings.Contains(src, "oldSelf") {
			bindings = bindings[2:]
		}
		for _, bind := range bindings {
			if optional {
				plain := bind
				bind = func() *Activation {
					a := plain()
					a.SetOptional(true)
					return a
				}
			}
			diff, want := s.difference(bind, noLimit)
			if diff != "" {
				t.Errorf("%s\nvalue %d\n%s", src, i, diff)
				continue
			}
			for _, limit := range limits(want.Cost) {
				if i > 1 {
					break
				}
				if diff, _ := s.difference(bind, limit); diff != "" {
					t.Errorf("%s\nvalue %d, limit %d\n%s", src, i, limit, diff)
					break
				}
			}
		}
	}
}
