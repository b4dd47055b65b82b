package path_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/types/path"
)

func name(s string) path.Step          { return path.Step{Name: s} }
func index(i int) path.Step            { return path.Step{Item: true, Index: i} }
func steps(s ...path.Step) []path.Step { return s }

func TestParsePath(t *testing.T) {
	t.Parallel()
	anyItem := path.Step{Any: true}
	tests := []struct {
		path   string
		want   []path.Step
		format string // if it differs from path
	}{
		{"", nil, ""},
		{".", nil, "(empty)"},
		{"spec", steps(name("spec")), ""},
		{".spec", steps(name("spec")), "spec"},
		{"spec.hosts", steps(name("spec"), name("hosts")), ""},
		{"spec.hosts[2].name", steps(name("spec"), name("hosts"), index(2), name("name")), ""},
		{"[0][1]", steps(index(0), index(1)), ""},
		{"spec.hosts[*]", steps(name("spec"), name("hosts"), anyItem), ""},
		{"labels['a.b']", steps(name("labels"), name("a.b")), ""},
		{`labels["a.b"]`, steps(name("labels"), name("a.b")), "labels['a.b']"},
		{"labels['a]b'].c", steps(name("labels"), name("a]b"), name("c")), ""},
		{`labels["it's"]`, steps(name("labels"), name("it's")), "labels['it's']"},
		{"labels['']", steps(name("labels"), name("")), ""},
		{"labels['2']", steps(name("labels"), name("2")), "labels.2"},
		{"labels['*']", steps(name("labels"), name("*")), "labels.*"},
		{"labels[a]", steps(name("labels"), name("a")), "labels.a"},
		{"labels[a.b/c]", steps(name("labels"), name("a.b/c")), "labels['a.b/c']"},
		{"labels[-1]", steps(name("labels"), name("-1")), "labels.-1"},
		{"labels[a b]", steps(name("labels"), name("a b")), "labels['a b']"},
		{"a-b.c_d/e", steps(name("a-b"), name("c_d/e")), ""},
		{"ä.日本", steps(name("ä"), name("日本")), ""},
		{"['a']['b']", steps(name("a"), name("b")), "a.b"},
		{`a["b']c"]`, steps(name("a"), name("b']c")), ""},
		{"[99999999999999999999]", steps(name("99999999999999999999")), "99999999999999999999"},
	}
	for _, tt := range tests {
		got, err := path.Parse(tt.path)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: got %+v, %v, want %+v", tt.path, got, err, tt.want)
			continue
		}
		want := tt.format
		switch want {
		case "":
			want = tt.path
		case "(empty)":
			want = ""
		}
		if text := path.Format(got); text != want {
			t.Errorf("%q: formatted as %q, want %q", tt.path, text, want)
		}
	}
}

func TestParsePathErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, want string }{
		{"a..b", `path "a..b": at "..b": a field's name is missing`},
		{"a.", `path "a.": at ".": a field's name is missing`},
		{"a.[0]", `path "a.[0]": at ".[0]": a field's name is missing`},
		{"a[", `path "a[": at "[": unclosed bracket`},
		{"a[0", `path "a[0": at "[0": unclosed bracket`},
		{"a['", `path "a['": at "['": unclosed quote`},
		{"a['b", `path "a['b": at "['b": unclosed quote`},
		{"a['b'", `path "a['b'": at "['b'": unclosed quote`},
		{`a["b']`, `path "a[\"b']": at "[\"b']": unclosed quote`},
		{"a[]", `path "a[]": at "[]": empty brackets: want an index, a quoted key, or *`},
	}
	for _, tt := range tests {
		if got, err := path.Parse(tt.path); err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %+v, %v, want %q", tt.path, got, err, tt.want)
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, text := range []string{"", "spec.hosts[2].labels['a.b'][*]", "labels[a.b]", "a['it's']", `a["b']c"]`, "[0]", "a[01]", "a[+1]", "['']", "a..b", "[", "a[''']"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, src string) {
		steps, err := path.Parse(src)
		if err != nil {
			return
		}
		for _, s := range steps {
			if strings.Contains(s.Name, "']") && strings.Contains(s.Name, `"]`) {
				return // neither quote can delimit the name
			}
		}
		text := path.Format(steps)
		again, err := path.Parse(text)
		if err != nil || !reflect.DeepEqual(again, steps) {
			t.Errorf("%q is %+v, formatted %q, which is %+v, %v", src, steps, text, again, err)
		}
	})
}
