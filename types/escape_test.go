package types_test

import (
	"testing"

	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/celadon-cel/celadon/types"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, ident string
		ok          bool
	}{
		{"a", "a", true}, {"A9_", "A9_", true}, {"_", "_", true}, {"_a_b_", "_a_b_", true},
		{"a.b", "a__dot__b", true}, {"a-b", "a__dash__b", true}, {"a/b", "a__slash__b", true}, {"a__b", "a__underscores__b", true},
		{"a___b", "a__underscores___b", true}, {"__", "__underscores__", true}, {"____", "__underscores____underscores__", true},
		{".", "__dot__", true}, {"-a", "__dash__a", true}, {"a.b-c/d__e", "a__dot__b__dash__c__slash__d__underscores__e", true},
		{"__dot__", "__underscores__dot__underscores__", true}, {"self", "self", true}, {"oldSelf", "oldSelf", true}, {"int", "int", true},
		{"true.false", "true__dot__false", true}, {"True", "True", true}, {"each", "each", true},
		{"", "", false}, {"9", "", false}, {"9a", "", false}, {"a b", "", false}, {"a$", "", false}, {"ä", "", false}, {"aä", "", false},
		{"a[0]", "", false}, {"a\x00", "", false}, {"a:b", "", false}, {"a.ä", "", false}, {"a\xff", "", false}, {"a@", "", false},
	}
	for _, word := range reserved {
		tests = append(tests, struct {
			name, ident string
			ok          bool
		}{word, "__" + word + "__", true})
	}
	for _, tt := range tests {
		ident, ok := types.Escape(tt.name)
		if ident != tt.ident || ok != tt.ok {
			t.Errorf("Escape(%q): got %q %t, want %q %t", tt.name, ident, ok, tt.ident, tt.ok)
		}
		if !ok {
			continue
		}
		if name, ok := types.Unescape(ident); name != tt.name || !ok {
			t.Errorf("Unescape(%q): got %q %t, want %q true", ident, name, ok, tt.name)
		}
	}
}

var identifiers = []string{
	"", "a", "a_b", "_", "__", "___", "____", "a__", "__a", "a__b", "a__b__", "__dot__", "__dots__", "a__dot__b", "__true__", "a__true__", "__true__a",
	"__underscores__", "____dot____", "__dot__dot__", "a_", "_a__dash__", "__\x00__", "__ä__", "a.b", "__namespace__", "__in__in__",
}

func TestUnescapeUpstream(t *testing.T) {
	t.Parallel()
	for _, ident := range identifiers {
		name, ok := types.Unescape(ident)
		if want, wantOK := apiservercel.Unescape(ident); name != want || ok != wantOK {
			t.Errorf("%q: got %q %t, want %q %t", ident, name, ok, want, wantOK)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, name := range append(identifiers, reserved...) {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		ident, ok := types.Escape(name)
		if !ok {
			return
		}
		if back, ok := types.Unescape(ident); back != name || !ok {
			t.Errorf("Escape(%q) = %q, Unescape gives %q %t", name, ident, back, ok)
		}
	})
}

func FuzzUnescape(f *testing.F) {
	for _, ident := range identifiers {
		f.Add(ident)
	}
	f.Fuzz(func(t *testing.T, ident string) {
		name, ok := types.Unescape(ident)
		if want, wantOK := apiservercel.Unescape(ident); name != want || ok != wantOK {
			t.Errorf("%q: got %q %t, want %q %t", ident, name, ok, want, wantOK)
		}
	})
}
