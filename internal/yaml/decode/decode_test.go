package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// same reports whether the fast path was taken.
func same(t *testing.T, text []byte) (short bool) {
	t.Helper()
	want, wantErr := viaJSON(text)
	got, duplicate, err := Decode(text)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("error %v, want %v, of:\n%.1000s", err, wantErr, text)
	}
	if err != nil && err.Error() != wantErr.Error() {
		if _, strict := yaml.YAMLToJSONStrict(text); strict == nil || strict.Error() != err.Error() {
			t.Fatalf("error %q, want %q, of:\n%.1000s", err, wantErr, text)
		}
	}
	if err != nil {
		return false
	}
	// Keys such as 0 and 0.0 become equal, and JSON keeps a random one of their values.
	for try := 0; try < 200 && !reflect.DeepEqual(want, got); try++ {
		want, _ = viaJSON(text)
	}
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("got  %.1000v\nwant %.1000v\nof:\n%.1000s", got, want, text)
	}
	var v any
	strict := yaml2.UnmarshalStrict(text, &v)
	if (strict != nil) != (duplicate != nil) {
		t.Fatalf("duplicate keys %v, want %v, of:\n%s", duplicate, strict, text)
	}
	_, short = new(reader).fast(text)
	return short
}

// pieces are values in every style, supported and unsupported by the fast path.
var pieces = []string{
	"a: 1", "a: -1", "a: +1", "a: 0", "a: 007", "a: 0o7", "a: 0x1F", "a: 0b11", "a: 1_000", "a: 9223372036854775808",
	"a: 1.5", "a: 1.0", "a: 1e3", "a: .5", "a: 'b\n  c'", "a: 'b\n\n  c'", "a: '\n  b\n  '", "a: 'b\nc'", "a: 'b  \n   c: d # e\n  ''f'' '", "a: \"b \\n\n  c\"", "a: \"b \\\n  c\"", "a: 'b\n  c': d", "a: 'b\n  c' d", "a: 'b\n  # c\n\n\n  d' # e", "a: \"b\\t  \n  c\"", "a: \"b\\\n  \\  c\\ \n  d\"", "a: \"b\\\n\n  c\"", "a: \"b\\ \n  c\"", "a: \"b\\", "a: .spec.x", "a: .Inf", "a: -.INF", "a: +.inf", "a: -.x", "a: -.", "a: .5e3", "a: .1_0", "a: ._1", "a: .nan", "a: -", "a: --flag", "a: 1e400", "a: 123456789012345678901234567890",
	"a: yes", "a: 'yes'", "a: y", "y: 1", "no: 1", "null: 1", "~: 1", "a: ~", "a: null", "a:", "a: ", "1: a", "1.5: a", "true: a",
	"a: 2001-12-14", "a: 2001-12-14t21:59:43.10-05:00", "a: 12:30", "a: a:b", "a: a: b", "a: b:", "a : b", "a:b", "a: http://x/y?z#w",
	"a: x # comment", "a: x#y", "a: # comment", "a: 'x' # c", "a: 'x'# c", "a: \"x\\n\\t\\\"\\u0041\"", "a: 'it''s'", "a: 'a", "a: \"a\n  b\"",
	"a: []", "a: {}", "a: [1, 2]", "a: {b: c}", "a: [] # c", "a: &x 1", "a: *x", "a: !!str 1", "a: |\n  x\n  y\n", "a: |-\n  x\n\n  y\n",
	"a: |+\n  x\n\n", "a: >\n  x\n  y\n", "a: |\n\n  x\n", "a: |\n   x\n  y\n", "a: |\n  x", "a: |2\n   x\n", "a: |\n  x\n # c\nb: 1", "a: |\nb: 1",
	"a: x\n  y", "a: x\n\n  y\n  z", "a: x\n  - y", "a: x\n  # c\n  y", "a: x\n  y: z", "a: x # c\n  y", "a: 1\n  2",
	"a:\n  b: c", "a:\n- b", "a:\n  - b\n  - c", "a:\n- b: 1\n  c: 2\n-\n- - d\n  - e\n", "a:\n  b", "a:\n  b: 1\n c: 2", "a:\n    b: 1\n  c: 2", "- a\n- b", "- a: 1\n  b: 2\n",
	"a: 1\na: 2", "a: {b: 1, b: 2}", "'a': 1\na: 2", "a: 1\n---\nb: 2", "--- 1", "...", "%YAML 1.1", "a: @x", "a: `x", "a: %x", "a: ?x", "a: :x", "? a\n: b",
	"<<: {a: 1}", "a: <<", "a: é", "é: 1", "a: \tx", "a:\tx", "\ta: 1", "a: x\r\nb: y", "a: \u2028", "  a: 1\n  b: 2", "a: 1\n  ", "a", "- - - a", "-", "- ", "-a", "$a: 1",
	"a: [b, 'c', \"d\\n\", 1, 1.5, yes, ~, [e], {f: g}] # h", "a: [b, c]# d", "a: [b, ]", "a: [, b]", "a: [b c, d]", "a: [b: c]", "a: [b:c]", "a: [-]", "a: [- b]", "a: [-b, -1, .5]", "a: [b\n  , c]", "a: [b", "a: [b]]", "a: [b] c", "a: [b]: c", "[a]: b", "- [a, b]\n- {c: d}",
	"a: {b: c, b: d}", "a: {b: c, \"d\": e, 'f': 1}", "a: {\"b\":1,\"c\":[1,2]}", "a: {b:c}", "a: {b:}", "a: {b: }", "a: {b}", "a: {b, c}", "a: {b: c d, e: [f]}", "a: {1: b}", "a: {no: b}", "a: {b: <<}", "a: {<<: b}", "a: {b: c#d}", "a: {b: c #d}", "a: {b: 'c''d'}", "a: {b: 'c\n  d'}", "a: {b: \"c\\x\"}", "a: {b: é, c: [ü]}", "a: {é: b}", "a: { b: c , d: e }", "a: { }", "a: [ ]", "a: {b: http://c}", "a: [a?b]", "a: [?b]", "a: [b*]", "a: [*b]", "a: [b, c,d]", "a: {b: c}}", "a: {b: {c: {d: []}}}", "a: [0x1F, 1_0, 1e3, 1.0, -0.0]",
	"a: <nil>", "a: <", "a: <<x", "a: ::1", "a: :x y", "a: :", "a: ':'", "a: -0.0", "a: 1.", "a: 1e21", "a: 1e20", "a: 100000000000000000000.0", "a: 0.1e1", "a: 1.5e400", "a: -1.50", "---\na: 1", "---\n---\na: 1", "---\n- a", "--- # x\na: 1", "a: \"\\r\"", "a: \"x\\/y\"", "a: [\"x\\/y\"]", "a: {\"k\\/\":1}", "a: 'x\\/y'", "a: \u00a0", "a: \u00a0b\u00a0", "a: b\u0085c", "a: \ufeffb", "a: b\u2029", "a: \U0001F600 x", "a: \ufffd", "a: \xff", "a: |\n  é\n  ü\n", "a: é\n  ü", "a: 'é\n  ü'",
	"a: 10b", "a: 0b", "a: 0B1", "a: -0b1", "a: +0b1", "a: 0X1f", "a: 0O7", "a: -0x1", "a: 08", "a: 09.5", "a: -08", "a: 0s", "a: 00", "a: -0", "a: +5", "a: 0.5", "a: -1.5", "a: +1.5", "a: -.5", "a: 1e", "a: 1e+", "a: 1e+2", "a: 1.e5", "a: 1.5E-3", "a: 1.5.5", "a: 10.0.0.1", "a: 1-_2", "a: 1_", "a: 1s_0", "a: -_1", "a: --1", "a: -e5", "a: 1-2", "a: 1+2", "a: 0x1p4", "a: 0xfg", "a: 1_0.5",
	"a: 999999999999999999", "a: 1000000000000000000", "a: 9223372036854775807", "a: -9223372036854775808", "a: -9223372036854775809", "a: 18446744073709551615", "a: 18446744073709551616", "a: 00000000000000000000", "a: 10s", "a: 500m", "a: 1.5Gi",
	"a: ..", "a: ./x", "a: ../x", "a: ...", "...a: b", "a: .inF", "a: .1s", "a: .e5", "a: .é", "a: infinity", "a: nan", "a: tRue", "a: yess", "a: nulls", "yess: a", "null-x: a", "Null: a", "a: ~x", "a: -x", "a: -é",
	"abcdefghijklmnopqrstuvwxyz012345: abcdefghijklmnopqrstuvwxyz012345", "abcdefghijklmnopqrstuvwxyz0123456: abcdefghijklmnopqrstuvwxyz0123456", "a: 'abcdefghijklmnopqrstuvwxyz0123456'",
	"a: b\n---", "a: b\n--- c", "a: b\n...", "a: b\n%c", "a: b\n  ---", "a: 'b\n---'", "a: 'b\n  ---'", "a: |\n  ---\n", "a: |\n  b\n---", "a: b #c", "a: b # c: d", "a: b: # c", "a: #", "a: b #", "a: b# c", "- # c\n  b", "- # c\n  b: 1", "-   a: 1\n    b: 2", "-   - a\n    - b", "- a\nb: c", "a:\n- b\n- c\nd: e", "a:\n- b:\n  - c\n  d: e", "a:\n-\n- \n- b", "a:\n  - b\n c: d",
	"'': a", "\"\": a", "'a'b: c", "'a''b': c", "\"a\\nb\": c", "'a\nb': c", "a.b/c-d: 1", "\"a b\": 1", "'a: b': c", "a: 'b': c", "a: b c d", "a: b, c", "a: b]", "a: \"b\" c", "a: -1x", "a: 1x", "a: 0x", "a: +", "a: 1 2", "# c\na: 1 # d\n# e\n",
}

func TestPieces(t *testing.T) {
	t.Parallel()
	short := 0
	for _, piece := range pieces {
		for _, text := range []string{piece, piece + "\n", "x:\n  " + strings.ReplaceAll(piece, "\n", "\n  "), "x:\n- " + strings.ReplaceAll(piece, "\n", "\n  ") + "\n- z: 1\n", piece + "\nz: 1\n"} {
			if same(t, []byte(text)) {
				short++
			}
		}
	}
	if short < len(pieces) {
		t.Errorf("the short way was taken %d times, want more", short)
	}
}

func TestNasty(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [" + strings.Repeat("x,", 9) + "x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	const maxJSONDepth = 10_000 // of JSON decoders
	nested := func(n int) string { return "a: " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n" }
	maps := func(n int) string { return strings.Repeat("{a: ", n) + "1" + strings.Repeat("}", n) + "\n" }
	block := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	}
	utf16 := func(order binary.AppendByteOrder, s string) string {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	for name, test := range map[string]struct {
		text  string
		wrong bool
	}{
		"alias bomb":         {bomb, true},
		"alias of itself":    {"a: &a\n  b: *a\n", true},
		"many aliases":       {strings.Repeat("- &x y\n- *x\n", 20_000), false},
		"as deep as JSON":    {nested(maxJSONDepth - 1), false},
		"deeper lists":       {nested(maxJSONDepth), true},
		"as deep maps":       {maps(maxJSONDepth), false},
		"deeper maps":        {maps(maxJSONDepth + 1), true},
		"deep block":         {block(2000), false},
		"3 MiB":              {"a: " + strings.Repeat("x", 3<<20) + "\n", false},
		"3 MiB in lines":     {"a: |\n" + strings.Repeat("  "+strings.Repeat("x", 62)+"\n", 3<<20/65), false},
		"100,000 items":      {"a:\n" + strings.Repeat("- 1\n", 100_000), false},
		"100,000 flow items": {"a: [" + strings.Repeat("1,", 100_000) + "1]\n", false},
		"100,000 comments":   {strings.Repeat("#\n", 100_000) + "a: 1\n", false},
		"not UTF-8":          {"a: \xff\xfe\xc3\n", true},
		"half a character":   {"a: \xc3", true},
		"a surrogate":        {"a: \"\\ud800\"\n", true},
		"NUL":                {"a: \x00\n", true},
		"a control":          {"a: \x1b\n", true},
		"UTF-16 little":      {utf16(binary.LittleEndian, "a: é\n"), false},
		"UTF-16 big":         {utf16(binary.BigEndian, "a: é\n"), false},
		"UTF-16, no mark":    {utf16(binary.LittleEndian, "a: 1\n")[2:], true},
		"byte order mark":    {"\ufeffa: 1\n", false},
		"CRLF":               {"a: 1\r\nb:\r\n- c\r\n", false},
		"CR":                 {"a: 1\rb: 2\r", false},
		"a tab before":       {"\ta: 1\n", true},
		"a tab after":        {"a:\t1\t# x\n", false},
		"beyond int64":       {"a: 9223372036854775808\nb: -9223372036854775809\nc: 18446744073709551616\n", false},
		"beyond float64":     {"a: 1e400\n", false},
		"number spellings":   {"a: 0x1F\nb: 1_000\nc: 0o7\nd: 007\ne: 0b11\nf: +1\ng: 1.\nh: 1:30\n", false},
		"NaN":                {"a: .nan\n", true},
		"NAN":                {"a: .NAN\n", true},
		"infinity":           {"a: -.INF\n", true},
		"no NaN":             {"a: nan\nb: .Nan\nc: inf\n", false},
		"booleans of 1.1":    {"a: yes\nb: off\nc: Y\nd: n\ny: 1\nNO: 2\n", false},
		"merge":              {"a: &m {x: 1, y: 2}\nb:\n  <<: *m\n  y: 3\n", false},
		"merge of a list":    {"a: &m {x: 1}\nb: &n {y: 2}\nc: {<<: [*m, *n]}\n", false},
		"merge of a scalar":  {"b: {<<: 1}\n", true},
		"keys of any kind":   {"1: a\n1.5: b\ntrue: c\n~: d\n", true},
		"a list as a key":    {"? [a]\n: b\n", true},
		"times":              {"a: 2001-12-14\nb: 2001-12-14t21:59:43.10-05:00\n", false},
		"binary":             {"a: !!binary aGVsbG8=\n", false},
		"a tag":              {"a: !!float 1\nb: !x 2\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, []byte(test.text))
			if _, _, err := Decode([]byte(test.text)); (err != nil) != test.wrong {
				t.Errorf("error %v, want one: %t", err, test.wrong)
			}
		})
	}
}

// TestFiles decodes the YAML files of the repository's examples, and of the corpora if present. In
// short mode, it decodes one document in eight. Most must be decoded by fast, and so must most of
// what tools print for the same objects.
func TestFiles(t *testing.T) {
	t.Parallel()
	roots := []string{"../../../examples"}
	for _, list := range []string{"CELADON_CORPUS", "CELADON_POLICIES", "CELADON_HISTORY"} {
		for _, root := range filepath.SplitList(os.Getenv(list)) {
			if filepath.IsAbs(root) {
				roots = append(roots, root)
			}
		}
	}
	var files, printed share
	n := 0
	for _, root := range roots {
		for text := range documents(t, root) {
			if n++; testing.Short() && n%8 > 0 {
				continue
			}
			files.add(same(t, text))
			if files.all%8 == 0 {
				for _, text := range prints(t, text) {
					printed.add(same(t, text))
				}
			}
		}
	}
	files.check(t, "the documents")
	printed.check(t, "the printed documents")
}

func documents(t *testing.T, root string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			data, err := os.ReadFile(path)
			for from, to := range Documents(data) {
				if !isEmpty(data[from:to]) && !yield(data[from:to]) {
					return fs.SkipAll
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func isEmpty(text []byte) bool {
	for line := range bytes.Lines(text) {
		if !isBlank(line) {
			return false
		}
	}
	return true
}

// prints returns the document as kubectl prints it, and as programs with the other common library do.
func prints(t *testing.T, text []byte) (printed [][]byte) {
	t.Helper()
	v, err := viaJSON(text)
	if err != nil {
		return nil
	}
	for _, marshal := range []func(any) ([]byte, error){yaml.Marshal, yaml3.Marshal} {
		text, err := marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		printed = append(printed, text)
	}
	return printed
}

type share struct{ fast, all int }

func (s *share) add(fast bool) {
	s.all++
	if fast {
		s.fast++
	}
}

func (s *share) check(t *testing.T, name string) {
	t.Helper()
	t.Logf("fast decodes %d of %d of %s", s.fast, s.all, name)
	if s.fast*10 < s.all*9 {
		t.Error("want nine of ten")
	}
}

func FuzzDecode(f *testing.F) {
	for _, piece := range pieces {
		f.Add([]byte(piece))
		f.Add([]byte("x:\n- " + piece + "\n- z: 1\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < 1<<12 {
			same(t, text)
		}
	})
}
