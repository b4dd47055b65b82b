package eval

import (
	"context"
	"errors"
	"fmt"
	"testing"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

func (s *subject) recorded(t testing.TB, optional bool) *Recorder {
	t.Helper()
	r, err := NewPlanner(s.env).PlanRecorded(s.ast, celenv.RuleRoots(s.decl, optional), noLimit, maxRecorded)
	if err != nil {
		t.Fatalf("the recording plan: %v", err)
	}
	return r
}

const maxRecorded = 1 << 20

func (s *subject) otherRecorded(r *Recorder, bind func() *Activation, limit int64) string {
	plain, recording := *s.ours, *r.program
	plain.limit, recording.limit = uint64(limit), uint64(limit)
	want := plain.Eval(context.Background(), bind())
	got, record := (&Recorder{&recording, r.plan}).Eval(context.Background(), bind())
	var over *OverworkError
	if errors.As(got.Err, &over) || errors.As(want.Err, &over) {
		return "" // recording adds work
	}
	if g, w := show(got), show(want); g != w {
		return fmt.Sprintf("recorded %s\nordinary %s", g, w)
	}
	root := s.ast.NativeRep().Expr()
	v := record.Value(root.ID())
	if v == nil || got.Stopped {
		return ""
	}
	if g, w := show(outcomeOf(v, record.Cost(root.ID()))), show(want); g != w {
		return fmt.Sprintf("root %s\nordinary %s", g, w)
	}
	return ""
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	decl := declare(t, read(t, "testdata/schema.yaml"))
	vals := values(t, "testdata/values.yaml")
	for table, optional := range map[string]bool{"testdata/expressions.txt": false, "testdata/optional.txt": true} {
		env := environment(t, decl, optional)
		for _, src := range expressions(t, table) {
			s, err := newSubject(env, decl, src)
			if err != nil {
				t.Errorf("%s\n%v", src, err)
				continue
			}
			r := s.recorded(t, optional)
			for i, self := range vals {
				bind := func() *Activation {
					a := BindOld(decl, self, vals[0])
					a.SetOptional(optional)
					return a
				}
				all := []int64{noLimit}
				if i < 2 {
					all = append(all, limits(s.ours.Eval(t.Context(), bind()).Cost)...)
				}
				for _, limit := range all {
					if diff := s.otherRecorded(r, bind, limit); diff != "" {
						t.Errorf("%s\nvalue %d, limit %d\n%s", src, i, limit, diff)
						break
					}
				}
			}
		}
	}
}

// TestRecordStopsBeforeCall checks that a recording evaluation does not make a call that the limit
// prevents.
func TestRecordStopsBeforeCall(t *testing.T) {
	t.Parallel()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	s, err := newSubject(environment(t, decl, false), decl, "lists.range(340000).distinct().size() > 0")
	if err != nil {
		t.Fatal(err)
	}
	r := s.recorded(t, false)
	r.program.limit = 10_000_000
	out, record := r.Eval(t.Context(), Bind(decl, map[string]any{}))
	if !out.Stopped {
		t.Errorf("got %s, want that the cost limit stops it", show(out))
	}
	if distinct := s.ast.NativeRep().Expr().AsCall().Args()[0].AsCall().Target(); record.Value(distinct.ID()) != nil {
		t.Error("distinct() was called")
	}
}

func TestRecordIsCancelled(t *testing.T) {
	t.Parallel()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	s, err := newSubject(environment(t, decl, false), decl, "lists.range(100000).all(a, lists.range(1000).all(b, a + b >= 0))")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, _ := s.recorded(t, false).Eval(ctx, Bind(decl, map[string]any{}))
	if !errors.Is(out.Err, context.Canceled) {
		t.Errorf("got %s, want that it is canceled", show(out))
	}
}

func FuzzRecorded(f *testing.F) {
	decl := declare(f, read(f, "testdata/schema.yaml"))
	for i, src := range expressions(f, "testdata/expressions.txt") {
		f.Add(src, uint64(i))
	}
	env := environment(f, decl, false)
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		if len(src) > 300 {
			t.Skip("takes too long for a fuzz step")
		}
		s, err := newSubject(env, decl, src)
		if err != nil {
			t.Skip("no expression: there is nothing to evaluate")
		}
		g := newGenerator(seed, src, float64(seed%5)*0.01)
		self := g.some(decl, 0)
		old := g.changed(self, decl)
		bind := func() *Activation {
			a := BindOld(decl, self, old)
			a.LimitWork(MaxWork / 64)
			return a
		}
		r := s.recorded(t, false)
		for _, limit := range []int64{noLimit, 20_000, int64(seed % 100)} {
			if diff := s.otherRecorded(r, bind, limit); diff != "" {
				t.Errorf("%s\nlimit %d\n%s", src, limit, diff)
			}
		}
	})
}

func outcomeOf(v ref.Val, cost uint64) Outcome {
	if err, ok := v.(*celtypes.Err); ok {
		return Outcome{Err: err, Cost: cost}
	}
	return Outcome{Value: v, Cost: cost}
}
