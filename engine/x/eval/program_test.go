package eval

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/types"
)

func fixture(t testing.TB, src string) (*subject, *types.Decl, any) {
	t.Helper()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	s, err := newSubject(environment(t, decl, false), decl, src)
	if err != nil {
		t.Fatal(err)
	}
	return s, decl, values(t, "testdata/values.yaml")[0]
}

// TestCancelled checks that nested loops notice a done context within 100 steps.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("had enough"))
	for _, src := range []string{
		"lists.range(200).all(x, x >= 0)",
		"lists.range(99).all(x, x >= 0)",
		"lists.range(20).all(x, lists.range(20).exists(y, y == x))",
		"lists.range(200).filter(x, x > 3).size() > 0",
		"lists.range(200).map(x, string(x)).size() > 0",
		"lists.range(200).exists_one(x, x == 3)",
		"lists.range(200).transformMap(i, x, x).size() > 0",
		"lists.range(200).all(x, x >= 0) || true",
		"(lists.range(200).all(x, x >= 0) || true) && lists.range(200).all(x, x >= 0)",
	} {
		s, decl, self := fixture(t, src)
		theirs, err := celProgram(s.env, s.ast, decl, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		want := show(theirs.Eval(ctx, Bind(decl, self)))
		if got := show(s.ours.Eval(ctx, Bind(decl, self))); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", src, got, want)
		}
	}
}

func TestNoContext(t *testing.T) {
	t.Parallel()
	s, decl, self := fixture(t, "true")
	var none context.Context
	if out := s.ours.Eval(none, Bind(decl, self)); out.Err == nil {
		t.Errorf("got %+v, want an error", out)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	s, decl, _ := fixture(t, "self.mapList == oldSelf.mapList")
	self := decode(t, "{mapList: [{k: [1]}], other: 1}")
	bind := func() *Activation { return BindOld(decl, self, decode(t, "{mapList: [{k: [2]}]}")) }
	if diff, want := s.difference(bind, noLimit); diff != "" || !strings.Contains(want.Err.Error(), "internal error") {
		t.Errorf("%s\n%s", diff, show(want))
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	s, decl, self := fixture(t, "self.items.all(x, self.labels.map(k, k + x.name).filter(k, k != x.name).size() == 3)")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				if out := s.ours.Eval(context.Background(), Bind(decl, self)); out.False() {
					t.Errorf("got %s", show(out))
					return
				}
			}
		})
	}
	group.Wait()
}

func TestReuse(t *testing.T) {
	t.Parallel()
	s, decl, self := fixture(t, "has(oldSelf.s) ? oldSelf == self : self.s == ''")
	var a Activation
	for _, old := range values(t, "testdata/values.yaml") {
		a.BindOld(decl, self, old)
		got := show(s.ours.Eval(context.Background(), &a))
		if want := show(s.ours.Eval(context.Background(), BindOld(decl, self, old))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestKept checks that a program does not keep the environment or the AST in memory.
func TestKept(t *testing.T) {
	s, decl, _ := fixture(t, "self.items.all(x, x.name != '' && (!has(x.value) || x.value < 10))")
	const n = 500
	programs := make([]*Program, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range programs {
		var err error
		if programs[i], err = New(s.env, s.ast, decl, noLimit); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := (after.HeapAlloc - before.HeapAlloc) / n
	t.Logf("%d bytes a program", kept)
	if kept > 8<<10 {
		t.Errorf("%d bytes a program", kept)
	}
	runtime.KeepAlive(programs)
}

func BenchmarkNew(b *testing.B) {
	s, decl, _ := fixture(b, "self.items.all(x, x.name != '' && x.name.lowerAscii() == x.name)")
	b.Run("with=celadon", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := New(s.env, s.ast, decl, noLimit); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("with=cel-go", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := celProgram(s.env, s.ast, decl, noLimit); err != nil {
				b.Fatal(err)
			}
		}
	})
}
