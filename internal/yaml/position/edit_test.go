package position

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func at(steps ...any) Path {
	var p Path
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			p = append(p, Key(s))
		case int:
			p = append(p, Item(s))
		}
	}
	return p
}

const sortedText = "a: 1\nb:\n  properties:\n    x:\n      type: string\n    y:\n      description: why\n      type: array\nc: 3\n"

// editCases are texts, a change, and the expected text. A "!" introduces a part of the expected
// error.
var editCases = map[string]struct {
	text   string
	change Change
	want   string
}{
	"plain":                      {"a: b # c\n", Set(at("a"), "d e"), "a: d e # c\n"},
	"plain that needs quotes":    {"a: b # c\n", Set(at("a"), "d: e"), "a: 'd: e' # c\n"},
	"a boolean of YAML 1.1":      {"a: b\n", Set(at("a"), "yes"), "a: \"yes\"\n"},
	"number":                     {"a: 1 # c\n", Set(at("a"), 64), "a: 64 # c\n"},
	"text to number":             {"a: 'x'\n", Set(at("a"), int64(64)), "a: 64\n"},
	"number to text":             {"a: 1\n", Set(at("a"), "2"), "a: \"2\"\n"},
	"float, null, boolean":       {"a: 1\n", Set(at("a"), []any{1.5, nil, true}), "a:\n- 1.5\n- null\n- true\n"},
	"single":                     {"a: 'b'  # c\n", Set(at("a"), "it's"), "a: 'it''s'  # c\n"},
	"double":                     {"a: \"b\"\n", Set(at("a"), "x\ty\u0085z\U000E0001\""), "a: \"x\\ty\\u0085z\\U000e0001\\\"\"\n"},
	"literal to literal":         {"a: |- # why\n    b\n    c\nd: 1\n", Set(at("a"), "e\n\n  f"), "a: |- # why\n    e\n\n      f\nd: 1\n"},
	"literal with an end":        {"a: |\n  b\n  c\n", Set(at("a"), "e\nf\n"), "a: |\n  e\n  f\n"},
	"literal with ends":          {"a: |\n  b\n  c\n", Set(at("a"), "e\nf\n\n"), "a: \"e\\nf\\n\\n\"\n"},
	"literal, first line spaced": {"a: |\n  b\n  c\n", Set(at("a"), " e\nf"), "a: \" e\\nf\"\n"},
	"literal to one line":        {"a: |- # why\n  b\n  c\nd: 1\n", Set(at("a"), "e"), "a: e # why\nd: 1\n"},
	"folded to lines":            {"a: >-\n  b\n  c\nd: 1\n", Set(at("a"), "e\nf"), "a: |-\n  e\n  f\nd: 1\n"},
	"plain over lines":           {"a: b\n  c\nd: 1\n", Set(at("a"), "e"), "a: e\nd: 1\n"},
	"lines before a comment":     {"a: b # c\n", Set(at("a"), "e\nf"), "a: \"e\\nf\" # c\n"},
	"windows":                    {"a: b\r\nc: 1\r\n", Set(at("a"), "e\nf"), "a: |-\r\n  e\r\n  f\r\nc: 1\r\n"},
	"only a tag":                 {"a: !b\nc: 1\n", Set(at("a"), "!b"), "a: '!b'\nc: 1\n"},
	"only a tag, a comment":      {"- a: !b # c\n", Set(at(0, "a"), "!b"), "- a: '!b' # c\n"},
	"in brackets":                {"{a: b, c: [1, 2]} # c\n", Set(at("c", 1), "x"), "{a: b, c: [1, \"x\"]} # c\n"},
	"not written":                {"a:\nb: 1\n", Set(at("a"), "x"), "a: x\nb: 1\n"},
	"not written, a comment":     {"a: # c\nb: 1\n", Set(at("a"), []any{"x"}), "a: [\"x\"] # c\nb: 1\n"},
	"not written in brackets":    {"{a, b: }", Set(at("a"), "x"), "{a: \"x\", b: }"},
	"not written after a colon":  {"{a, b: }", Set(at("b"), "x"), "{a, b:  \"x\"}"},
	"an alias is replaced":       {"a: &x 1\nb: *x\n", Set(at("b"), 2), "a: &x 1\nb: 2\n"},
	"an unused anchor":           {"a: &x 1\n", Set(at("a"), 2), "a: &x 2\n"},
	"collection by a number":     {"a:\n  b: 1\n  # c\nd: 1\n", Set(at("a"), 5), "a: 5\n  # c\nd: 1\n"},
	"list by a mapping":          {"a:\n- 1\n- 2\nd: 1\n", Set(at("a"), Map{{"z", 1}, {"w", []any{}}}), "a:\n  z: 1\n  w: []\nd: 1\n"},
	"item by a mapping":          {"a:\n  - 1\n  - 2\n", Set(at("a", 0), map[string]any{"z": "1", "w": []any{1, Map{}}}), "a:\n  - w:\n      - 1\n      - {}\n    z: \"1\"\n  - 2\n"},
	"comment before a block":     {"a: # c\n  b: 1\n", Set(at("a"), 5), "!a comment, an anchor, or a tag precedes it"},

	"another key":              {"a: 1\nb: 2 # c\n\n# d\n", Set(at("z"), 3), "a: 1\nb: 2 # c\nz: 3\n\n# d\n"},
	"another key below":        {"a:\n    b: # c\n        - 1\n    # about b\n# d\ne: 1\n", Set(at("a", "z"), Map{{"x", "y"}}), "a:\n    b: # c\n        - 1\n    z:\n        x: \"y\"\n    # about b\n# d\ne: 1\n"},
	"comments of the entry":    {"a:\n  b:\n    c: 1\n    # of b\n\n  # of a\n", Set(at("a", "z"), 1), "a:\n  b:\n    c: 1\n    # of b\n  z: 1\n\n  # of a\n"},
	"after a kept block":       {"a:\n  b: |+\n    x\n\nd: 1\n", Set(at("a", "z"), 1), "a:\n  b: |+\n    x\n\n  z: 1\nd: 1\n"},
	"after nothing":            {"a:\n  b:\nd: 1\n", Set(at("a", "z"), 1), "a:\n  b:\n  z: 1\nd: 1\n"},
	"no line break at the end": {"a: 1", Set(at("z"), "x"), "a: 1\nz: x"},
	"in an item":               {"a:\n- b: 1\n- c: 1\n", Set(at("a", 0, "z"), 1), "a:\n- b: 1\n  z: 1\n- c: 1\n"},
	"key in brackets":          {"{a: 1} # c\n", Set(at("b c"), "x"), "{a: 1, \"b c\": \"x\"} # c\n"},
	"key in empty brackets":    {"a: {}\n", Set(at("a", "b"), "x"), "a: {b: \"x\"}\n"},
	"in order":                 {sortedText, Set(at("b", "properties", "y", "maxItems"), 5), strings.Replace(sortedText, "why\n", "why\n      maxItems: 5\n", 1)},
	"in order, first":          {sortedText, Set(at("b", "properties", "x", "maxLength"), 5), strings.Replace(sortedText, "      type: string", "      maxLength: 5\n      type: string", 1)},
	"JSON":                     {"{\n  \"a\": 1,\n  \"b\": {\"c\": [1]}\n}\n", Set(at("z"), []any{"x\u2028", Map{{"y", 1.5}}}), "{\n  \"a\": 1,\n  \"b\": {\"c\": [1]},\n  \"z\": [\"x\\u2028\", {\"y\": 1.5}]\n}\n"},
	"through an alias":         {"a: &x {b: 1}\nc: *x\n", Set(at("c", "b"), 2), "!an alias, *x"},
	"through a used anchor":    {"a: &x {b: 1}\nc: *x\n", Set(at("a", "b"), 2), "!an anchor that others use, &x"},
	"a used anchor":            {"a: &x 1\nc: *x\n", Set(at("a"), 2), "!an anchor that others use, &x"},
	"a key given twice":        {"a: 1\na: 2\n", Set(at("a"), 3), "!a is a duplicate"},
	"a merge after it":         {"a: 1\n<<: {a: 2}\n", Set(at("a"), 3), "!a later merge key"},
	"a merged key":             {"x: &x {a: 1}\ny:\n  <<: *x\n", Set(at("y", "a"), 2), "x: &x {a: 1}\ny:\n  <<: *x\n  a: 2\n"},
	"no such place":            {"a: 1\n", Set(at("b", "c"), 2), "!there is no b"},
	"not a mapping":            {"a: 1\n", Set(at("a", "c"), 2), "!c cannot be followed here"},
	"the document":             {"a: 1\n", Set(nil, 2), "!the document itself"},
	"no number":                {"a: 1\n", Set(at("a"), struct{}{}), "!a value of type struct {}"},

	"rename":               {"a: 1\nb: # c\n  d: 2\n", Rename(at("b", "d"), "e"), "a: 1\nb: # c\n  e: 2\n"},
	"rename of a row":      {"- a: 1\n  b: 2\n", Rename(at(0, "a"), "c d"), "- c d: 1\n  b: 2\n"},
	"rename a quoted key":  {"'a': 1\n", Rename(at("a"), "x-y"), "x-y: 1\n"},
	"rename in brackets":   {"{a: 1, b: {c: [d]}}", Rename(at("b", "c"), "e"), "{a: 1, b: {e: [d]}}"},
	"rename in JSON":       {"{\"a\": {\"b\": 1}}", Rename(at("a", "b"), "c"), "{\"a\": {\"c\": 1}}"},
	"rename to another":    {"a: 1\nb: 2\n", Rename(at("a"), "b"), "!there is already a b"},
	"rename a missing key": {"a: 1\n", Rename(at("b"), "c"), "!there is no b"},
	"rename an item":       {"- 1\n", Rename(at(0), "c"), "!there is no [0]"},

	"first item":        {"a:\n  # b\n  - 1\n  - 2\n", Insert(at("a", 0), "x"), "a:\n  # b\n  - x\n  - 1\n  - 2\n"},
	"item between":      {"a:\n- 1 # c\n# d\n- 2\n", Insert(at("a", 1), Map{{"x", 1}, {"z", "2\n3"}}), "a:\n- 1 # c\n# d\n- x: 1\n  z: |-\n    2\n    3\n- 2\n"},
	"last item":         {"a:\n- b: |-\n    x\n- c\n# d\n", Insert(at("a", 2), []any{1, []any{2}}), "a:\n- b: |-\n    x\n- c\n- - 1\n  - - 2\n# d\n"},
	"item in brackets":  {"[1, 2,]\n", Insert(at(2), 3), "[1, 2, 3,]\n"},
	"first in brackets": {"[1, 2]\n", Insert(at(0), 3), "[3, 1, 2]\n"},
	"between on lines":  {"[\n  1,\n  2\n]\n", Insert(at(1), 3), "[\n  1,\n  3,\n  2\n]\n"},
	"too far":           {"[1]\n", Insert(at(2), 3), "!there are 1 items"},
	"into a mapping":    {"a: 1\n", Insert(at("a"), 3), "!not a list"},

	"remove a key":            {"a: 1\n# b\nb: 2 # c\n# d\nc: 3\n", Remove(at("b")), "a: 1\n# b\n# d\nc: 3\n"},
	"remove the first":        {"- a: 1 # c\n  b: 2\n", Remove(at(0, "a")), "- b: 2\n"},
	"remove the last":         {"a: 1\nb:\n- |\n  x\n", Remove(at("b")), "a: 1\n"},
	"remove at the end":       {"a: 1\r\nb: 2", Remove(at("b")), "a: 1"},
	"remove an item":          {"a:\n- 1\n- b:\n    c: 1\n  # of b\n- 3\n", Remove(at("a", 1)), "a:\n- 1\n- 3\n"},
	"remove of a row":         {"- - 1\n  - 2\n- 3\n", Remove(at(0, 0)), "- - 2\n- 3\n"},
	"remove in brackets":      {"{a: 1, b: [1, 2], c}", Remove(at("b")), "{a: 1, c}"},
	"remove the last of them": {"{a: 1, b: [1, 2 ]}", Remove(at("b", 1)), "{a: 1, b: [1 ]}"},
	"remove all":              {"a: [1]\n", Remove(at("a", 0)), "!is all there is"},
	"remove a shared value":   {"a: &x 1\nb: *x\n", Remove(at("a")), "!an anchor that others use"},
	"remove an alias":         {"a: &x 1\nb: *x\n", Remove(at("b")), "a: &x 1\n"},
	"remove a missing key":    {"a: 1\nb: 2\n", Remove(at("c")), "!there is no c"},
}

func TestEdit(t *testing.T) {
	t.Parallel()
	for name, c := range editCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Edit(c.change)
			if part, bad := strings.CutPrefix(c.want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("error %v, want %q, text:\n%s", err, part, got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEditSeveral(t *testing.T) {
	t.Parallel()
	d, err := Parse([]byte("a: {}\nb:\n- 1\n- 2\n- 3\nc: x\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Edit(Set(at("c"), "v"), Set(at("a", "z"), 1), Set(at("a", "w"), 2), Remove(at("b", 1)), Insert(at("b", 3), 4), Set(at("d"), 5), Set(at("e"), 6))
	want := "a: {z: 1, w: 2}\nb:\n- 1\n- 3\n- 4\nc: v\nd: 5\ne: 6\n"
	if err != nil || string(got) != want {
		t.Errorf("%v:\n%s\nwant:\n%s", err, got, want)
	}
	if got, err := d.Edit(Set(at("c"), "y"), Set(at("c"), "z")); err == nil {
		t.Errorf("two changes at one place: %s", got)
	}
}

// pairTexts are documents in which nested collections end at the same offset.
var pairTexts = []string{
	sortedText,
	"a:\n  items:\n    type: string\n",
	"a:\n  items:\n    type: string",
	"a:\n  type: array\n  items:\n    items:\n      type: string # c\n      # of type\n  # of items\n",
	"a:\n- b:\n  - c: 1\n  - d: 2\ne:\n",
	"a:\n- - - 1\nb: {c: [1, {d: 2}]}\n",
	"{\"a\": {\"b\": [1, {\"c\": [2]}]}}",
	"a:\r\n  b: |\r\n    x\r\n  c:\r\n",
}

// TestEditPairs skips pairs in which one change replaces the target of the other. Edit verifies the result.
func TestEditPairs(t *testing.T) {
	t.Parallel()
	for _, text := range pairTexts {
		d, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		changes := singleChanges(d)
		for i, first := range changes {
			for j, second := range changes {
				if i == j || first.replaces(second.path) || second.replaces(first.path) {
					continue
				}
				if _, err := d.Edit(first, second); err != nil {
					t.Errorf("%q: %s and %s: %v", text, first.path, second.path, err)
				}
			}
		}
	}
}

// replaces reports whether the change replaces a value that contains path.
func (c Change) replaces(path Path) bool {
	_, isInsert := c.value.(int)
	return !isInsert && len(path) >= len(c.path) && slices.Equal(c.path, path[:len(c.path)])
}

func singleChanges(d *Document) (list []Change) {
	paths, _ := places(d.Root, nil)
	for _, path := range append(paths, nil) {
		var changes []Change
		if len(path) > 0 {
			changes = append(changes, Set(path, "new"))
		}
		if _, n := d.Find(path); n.Kind == Mapping {
			changes = append(changes, Set(append(path[:len(path):len(path)], Key("max")), Map{{"k", 1}}))
		} else if n.Kind == Sequence {
			changes = append(changes, Insert(append(path[:len(path):len(path)], Item(0)), 1), Insert(append(path[:len(path):len(path)], Item(len(n.Items))), 2))
		}
		for _, c := range changes {
			if _, err := d.Edit(c); err == nil {
				list = append(list, c)
			}
		}
	}
	return list
}

func TestWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"spec": "spec", "a.b-c": "a.b-c", "": `""`, "true": `"true"`, "No": `"No"`, "y": `"y"`, "null": `"null"`, "1": `"1"`, "a: b": `"a: b"`,
		"a, b": `"a, b"`, "#": `"#"`, `"`: `"\""`, "a\nb": `"a\nb"`, "\u0000": `"\u0000"`, "😀": `"😀"`,
	} {
		if got := Word(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
