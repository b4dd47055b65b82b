package input

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func seen(d *Document) string {
	if d.Err != nil {
		return fmt.Sprintf("%d/%d:%d: %v", d.Index, d.Item, d.Line, d.Err)
	}
	return fmt.Sprintf("%d/%d:%d: %v", d.Index, d.Item, d.Line, d.Object["name"])
}

func read(r io.Reader) []string {
	var got []string
	Split("f", r, func(c Chunk) bool {
		return c.Each(func(d *Document) bool {
			got = append(got, seen(d))
			return true
		})
	})
	return got
}

// each reads text from memory, as a stream, and byte by byte, and checks that the results are equal.
func each(t *testing.T, text string) []string {
	t.Helper()
	var memory []string
	s := splitter{file: "f", w: bytesWindow([]byte(text)), yield: func(c Chunk) bool {
		return c.Each(func(d *Document) bool {
			memory = append(memory, seen(d))
			return true
		})
	}}
	s.run()
	if diff := cmp.Diff(memory, read(strings.NewReader(text))); diff != "" {
		t.Errorf("a stream differs (-memory +stream):\n%s\nof:\n%s", diff, text)
	}
	if diff := cmp.Diff(memory, read(iotest.OneByteReader(strings.NewReader(text)))); diff != "" {
		t.Errorf("byte by byte differs (-memory +bytes):\n%s\nof:\n%s", diff, text)
	}
	return memory
}

func TestForms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":             {"", nil},
		"white space":         {" \n  \r\n", nil},
		"a tab":               {" \n\t\n", []string{"0/0:2: yaml: line 2: found character that cannot start any token; YAML has no tabs at the start of a line: write spaces"}},
		"comment":             {"# nothing\n---\n# more\n", nil},
		"yaml":                {"# c\nname: a\n---\n---\nname: b", []string{"0/0:2: a", "1/0:5: b"}},
		"bom":                 {"\ufeffname: a\n", []string{"0/0:1: a"}},
		"bom json":            {"\ufeff{\"name\": \"a\"}", []string{"0/0:1: a"}},
		"json":                {"\n {\"name\": \"a\"}", []string{"0/0:2: a"}},
		"json lines":          {"{\"name\":\"a\"}\n{\"name\":\"b\"}\n", []string{"0/0:1: a", "1/0:2: b"}},
		"json in yaml":        {"name: a\n---\n{\"name\": \"b\"}\n---\nname: c\n", []string{"0/0:1: a", "1/0:3: b", "2/0:5: c"}},
		"a large number":      {`{"name":7e777}`, []string{"0/0:1: not JSON: json: cannot unmarshal number 7e777 into Go value of type float64"}},
		"a brace too many":    {`{}}--`, []string{"0/0:1: <nil>", "1/0:1: not JSON: invalid character '}' after an object"}},
		"flow":                {"{name: a}\n", []string{"0/0:1: a"}},
		"flow lines":          {"{name: a,\n # {\n x: 'it''s {'}\n---\nname: b\n", []string{"0/0:1: a", "1/0:5: b"}},
		"a brace in a string": {`{"name":"}","x":"\"}"}`, []string{"0/0:1: }"}},
		"separators":          {"---\nname: a\n--- # c\nname: b\n---  \r\nname: c\n", []string{"0/0:2: a", "1/0:4: b", "2/0:6: c"}},
		"no separator":        {"name: a\n--- {name: b}\n# c\n---\nname: c\n", []string{"0/0:1: a", "1/0:2: \"--- {name: b}\" does not start a document: want --- alone on its line", "2/0:5: c"}},
		"four dashes":         {"----\nname: a\n---\nname: b\n", []string{"0/0:1: \"----\" does not start a document: want --- alone on its line", "1/0:4: b"}},
		"text":                {"just text\n", []string{"0/0:1: " + ErrNoObject.Error()}},
		"no list":             {`{"kind":"Thing","items":[{"name":"x"}],"name":"a"}`, []string{"0/0:1: a"}},
		"kind is last":        {`{"apiVersion":"g/v1","items":[{"name":"x"}],"kind":"Thing","name":"a"}`, []string{"0/0:1: a"}},
		"list, kind last":     {`{"apiVersion":"g/v1","items":[{"name":"a"},{"name":"b"}],"kind":"ThingList"} {"name":"c"}`, []string{"0/0:1: a", "0/1:1: b", "1/0:1: c"}},
		"list, kind first":    {"{\"kind\":\"ThingList\",\"items\":[\n{\"name\":\"a\"},\n{\"name\":\"b\"}],\"metadata\":{}}", []string{"0/0:2: a", "0/1:3: b"}},
		"empty list":          {`{"kind":"List","items":[]}`, nil},
		"list of null":        {`{"kind":"List","items":null,"name":"a"}`, []string{"0/0:1: a"}},
		"list of text":        {`{"kind":"List","items":["x",{"name":"a"},3]}`, []string{"0/0:1: " + ErrNoObject.Error(), "0/1:1: a", "0/2:1: " + ErrNoObject.Error()}},
		"yaml list":           {"kind: List\nitems:\n- name: a\n-\n  name: b\n- text\n", []string{"0/0:3: a", "0/1:5: b", "0/2:6: " + ErrNoObject.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, each(t, test.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var bad = []string{
	`{"name": tru}`,
	`{"name": "cut`,
	`{"name": {"a": [1, 2}`,
	`{"name": {`,
	`{"name": [{"a": 1},`,
	`{"name": [{"a": 1}`,
	`{"name":`,
	`{`,
	`}`,
	`garbage`,
	`{"name" "x"}`,
	`{"name": "x"]`,
	`{"kind": "List", "items": [`,
	`[{"name": "x"}]`,
}

const objects = 5

func good(i int) string { return fmt.Sprintf(`{"name":"good%d","list":[{"a":1},{"b":[]}]}`, i) }

// TestBadLines puts each bad string at each position among JSON lines.
func TestBadLines(t *testing.T) {
	t.Parallel()
	for _, piece := range bad {
		for position := range objects + 1 {
			lines := make([]string, objects)
			for i := range lines {
				lines[i] = good(i)
			}
			lines = slices.Insert(lines, position, piece)
			line := position + 1
			if strings.Contains(piece, "items") {
				line = 0 // the items that follow have no commas
			}
			holdBad(t, strings.Join(lines, "\n")+"\n", line, objects)
		}
	}
}

// holdBad expects the first error on the given line, or on any line if that is 0.
func holdBad(t *testing.T, text string, line, least int) {
	t.Helper()
	got := each(t, text)
	found := 0
	var errs []string
	for _, s := range got {
		if strings.Contains(s, ": good") {
			found++
		} else {
			errs = append(errs, s)
		}
	}
	if found < least {
		t.Errorf("%d of %d good objects found:\n%s\nof:\n%s", found, objects, strings.Join(got, "\n"), text)
	}
	if len(errs) == 0 || line > 0 && !strings.Contains(errs[0], fmt.Sprintf(":%d: ", line)) {
		t.Errorf("want an error on line %d, got %q of:\n%s", line, errs, text)
	}
}

func TestBadItems(t *testing.T) {
	t.Parallel()
	for _, piece := range bad {
		if piece == `}` || piece == `[{"name": "x"}]` || strings.Contains(piece, "items") {
			continue // these end the List, or are read as another value
		}
		for position := range objects + 1 {
			lines := make([]string, objects)
			for i := range lines {
				lines[i] = "        " + good(i)
			}
			lines = slices.Insert(lines, position, "        "+piece)
			text := "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n" + strings.Join(lines, ",\n") + "\n    ],\n    \"kind\": \"List\"\n}\n"
			if piece == `garbage` || strings.HasPrefix(piece, "{") {
				holdBad(t, text, position+4, position)
			}
		}
	}
}

func TestBadInlineItems(t *testing.T) {
	t.Parallel()
	for _, piece := range bad {
		if piece == `}` || piece == `[{"name": "x"}]` || strings.Contains(piece, "items") {
			continue // as above
		}
		for position := range objects + 1 {
			items := make([]string, objects)
			for i := range items {
				items[i] = fmt.Sprintf(`{"apiVersion":"v1","kind":"X","list":[{"a":1},{"b":[]}],"name":"good%d"}`, i)
			}
			items = slices.Insert(items, position, piece)
			holdBad(t, `{"apiVersion":"v1","items":[`+strings.Join(items, ",")+`],"kind":"List"}`+"\n", 1, position)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"a: b: c", "- {", "text", "\t- x", "{\"name\": ", "a: \"cut"} {
		for position := range objects + 1 {
			parts := make([]string, objects)
			for i := range parts {
				parts[i] = fmt.Sprintf("name: good%d", i)
			}
			parts = slices.Insert(parts, position, piece)
			holdBad(t, strings.Join(parts, "\n---\n")+"\n", 2*position+1, objects)
		}
	}
}

func TestReadingFails(t *testing.T) {
	t.Parallel()
	got := read(io.MultiReader(strings.NewReader(good(0)+"\n{\"name\":"), iotest.ErrReader(fmt.Errorf("disk gone"))))
	want := []string{"0/0:1: good0", "1/0:2: disk gone"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOneObjectInMemory(t *testing.T) {
	t.Parallel()
	item := good(0) + ","
	const items = 100_000
	r := io.MultiReader(strings.NewReader(`{"kind":"List","items":[`), strings.NewReader(strings.Repeat(item, items-1)), strings.NewReader(good(0)+"]}"))
	w := newWindow(r, func() {})
	n, most := 0, 0
	s := splitter{file: "f", w: w, yield: func(Chunk) bool {
		n++
		most = max(most, cap(w.buf))
		return true
	}}
	s.run()
	if n != items || most > 8*readSize {
		t.Errorf("%d items with a buffer of %d bytes, want %d with at most %d", n, most, items, 8*readSize)
	}
}

func TestNothingFillsTheMemory(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string // of the first errors
	}{
		"NUL":    {"\x00", []string{"0/0:1: " + errLongLine.Error()}},
		"blank":  {" \n", nil},
		"spaces": {" ", nil},
		"quote":  {"{\"", []string{"0/0:1: not JSON"}},
		"YAML":   {"a: ", []string{"0/0:1: " + errLongLine.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var readers []io.Reader
			for range 8 {
				readers = append(readers, strings.NewReader(strings.Repeat(test.text, 8<<20)))
			}
			readers = append(readers, strings.NewReader("\n"+good(0)))
			w := newWindow(io.MultiReader(readers...), func() {})
			var got []string
			s := splitter{file: "f", w: w, yield: func(c Chunk) bool {
				return c.Each(func(d *Document) bool {
					got = append(got, seen(d))
					return true
				})
			}}
			s.run()
			if most := 4 * maxObject; cap(w.buf) > most {
				t.Errorf("a buffer of %d bytes, want at most %d", cap(w.buf), most)
			}
			if len(got) != len(test.want)+1 || !strings.HasSuffix(got[len(got)-1], ": good0") {
				t.Fatalf("got %q", got)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	for _, piece := range bad {
		f.Add(good(0) + "\n" + piece + "\n" + good(1))
		f.Add("{\"kind\":\"List\",\"items\":[" + good(0) + "," + piece + "," + good(1) + "]}")
	}
	f.Add("a: 1\n---\n{\"a\": 1}\n--- # x\nb: 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, s := range each(t, text) {
			var index, item, line int
			if _, err := fmt.Sscanf(s, "%d/%d:%d:", &index, &item, &line); err != nil || line > lines {
				t.Errorf("%q: want a line of %d", s, lines)
			}
		}
	})
}
