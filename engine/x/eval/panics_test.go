package eval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/newest"
)

func TestKnownPanics(t *testing.T) {
	t.Parallel()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	type test struct{ in, src string }
	tests := []test{
		{"celvalue.(*mapListValue).", "self.mapList == oldSelf.mapList"},
		{"eval.newMap", "{dyn(bytes(self.s)): 1}.size() == 1"},
		{"eval.newMap", "{dyn(semver(self.t)): 1}.size() == 1"},
		{"eval.(*frame).in", "dyn(bytes(self.s)) in ['a', 'b']"},
		{"eval.(*frame).in", "dyn(semver(self.t)) in ['a', 'b']"},
		{lookup, "dyn(b'a') in {false: 1}"},
		{lookup, "dyn(bytes(self.s)) in {'x': self.s}"},
		{lookup, "dyn(semver(self.t)) in {'x': 1} || true"},
		{lookup, "[b'a', b'b'].exists(x, dyn(x) in {1: 1})"},
		{"eval.(*semantics).extensionCost", "[[1]].flatten([3][7]).size() == 1"},
		{"eval.(*semantics).extensionCost", "[[2, 1]][7].distinct().size() == 1"},
		{"eval.(*semantics).extensionCost", "dyn([null][0]).distinct().size() == 1"},
		{"eval.(*semantics).extensionCost", "[[2, 1]][7].sort().size() == 1"},
	}
	if newest.Minor >= 38 { // which does not charge calls on errors
		tests = slices.DeleteFunc(tests, func(tt test) bool { return strings.Contains(tt.src, "[7]") })
	}
	self, old := decode(t, "{mapList: [{k: [1]}], s: x, t: 1.2.3}"), decode(t, "{mapList: [{k: [2]}]}")
	seen := map[string]bool{}
	for _, tt := range tests {
		s := compiles(t, env, decl, tt.src)
		if s == nil {
			t.Errorf("%s: no expression", tt.src)
			continue
		}
		diff, want := s.difference(func() *Activation { return BindOld(decl, self, old) }, noLimit)
		if diff != "" || want.Err == nil || !strings.HasPrefix(want.Err.Error(), "internal error: ") {
			t.Errorf("%s\n%s\n%s", tt.src, diff, show(want))
		}
		seen[tt.in] = true
		seen[ours+tt.in] = true
		seen[ours+"engine/x/"+tt.in] = true
	}
	for _, known := range knownPanics {
		if !seen[known.in] {
			t.Errorf("nothing shows the panic in %s", known.in)
		}
	}
}

func TestInternalError(t *testing.T) {
	t.Parallel()
	s, decl, self := fixture(t, "self.s == ''")
	for _, with := range []any{"spoilt", errors.New(unhashable + "int")} {
		s.ours.test = func(*frame) truth { panic(with) }
		out := s.ours.Eval(context.Background(), Bind(decl, self))
		var internal *InternalError
		if !errors.As(out.Err, &internal) || internal.Panic != with || !strings.Contains(string(internal.Stack), "TestInternalError") {
			t.Errorf("got %v, want an internal error", out.Err)
		}
		if out.False() || out.Stopped || out.Value != nil {
			t.Errorf("got a verdict: %+v", out)
		}
	}
}
