package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/decls"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
	"github.com/celadon-cel/celadon/internal/testing/newest"
)

// largeOf returns an expression of type t whose value is as large as an object can be, or "" if no
// such expression exists.
func largeOf(t *celtypes.Type) string {
	switch t.Kind() {
	case celtypes.StringKind:
		return "self.s"
	case celtypes.BytesKind:
		return "bytes(self.s)"
	case celtypes.ListKind:
		switch t.Parameters()[0].Kind() {
		case celtypes.StringKind, celtypes.TypeParamKind, celtypes.DynKind:
			return "self.strings"
		case celtypes.IntKind:
			return "lists.range(2000)"
		}
		if item := sampleOf(t.Parameters()[0]); item != "" {
			return "lists.range(2000).map(i, " + item + ")"
		}
	case celtypes.MapKind:
		return "dyn(self)"
	case celtypes.DynKind, celtypes.TypeParamKind:
		return "self.s"
	case celtypes.OpaqueKind, celtypes.StructKind:
		switch t.TypeName() {
		case "kubernetes.Quantity":
			return "quantity('1e-9999')"
		case "kubernetes.URL":
			return "url('http://a.b/?' + self.s)"
		case "kubernetes.Semver":
			return "semver('1.2.3-' + self.s)"
		}
	}
	return sampleOf(t)
}

func largeCalls(fn *decls.FunctionDecl, o *decls.OverloadDecl) (calls []string) {
	var small, large []string
	for _, t := range o.ArgTypes() {
		if sampleOf(t) == "" {
			return nil
		}
		small, large = append(small, sampleOf(t)), append(large, largeOf(t))
	}
	calls = []string{callText(fn, o, large)}
	for i := range large {
		mixed := append([]string(nil), small...)
		mixed[i] = large[i]
		calls = append(calls, callText(fn, o, mixed))
	}
	return calls
}

func largeSelf() map[string]any {
	texts := make([]any, 2000)
	for i := range texts {
		texts[i] = fmt.Sprintf("%04d%s", i, strings.Repeat("b", 100))
	}
	return map[string]any{"s": strings.Repeat("a", 200_000), "strings": texts}
}

type spending struct {
	work, cost, bytes uint64
	err               error
}

func spent(s *subject, a *Activation) spending {
	least := uint64(math.MaxUint64) // the minimum, because the process may do other work at the same time
	var out Outcome
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out = s.ours.Eval(context.Background(), a)
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return spending{a.Work(), out.Cost, least, out.Err}
}

func (s spending) accounted() bool { return s.bytes <= 16<<10+3*s.work+100*s.cost }

// TestWorkOfOverloads is not parallel, because allocations are counted for the whole process.
func TestWorkOfOverloads(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	calls := 0
	for _, fn := range env.Functions() {
		for _, o := range fn.OverloadDecls() {
			for _, src := range largeCalls(fn, o) {
				s, err := newSubject(env, decl, src)
				if src == "" || err != nil {
					continue // only the parser can make the call, or an argument does not fit
				}
				calls++
				s.ours.limit = noLimit
				a := Bind(decl, largeSelf())
				s.ours.Eval(context.Background(), a) // allocates the memory that the next evaluation reuses
				if took := spent(s, a); !took.accounted() {
					t.Errorf("%s: %.120s: %+v", o.ID(), src, took)
				}
			}
		}
	}
	if calls < 600 {
		t.Errorf("only %d calls", calls)
	}
}

// TestWorkBeyondPrice checks calls that allocate far more memory than their cost suggests. Only the
// added work accounts for it.
func TestWorkBeyondPrice(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	for _, src := range []string{
		"'%s'.format([self.strings]).size() > 0",
		"'%s%s%s'.format([self.s, self.s, self.s]).size() > 0",
		"'%.1000000f'.format([1.5]).size() > 0",
		"(self.strings + self.strings)[0] == ''",
		"lists.range(100).all(i, (self.strings + self.strings).size() > 0)",
		"lists.range(100).all(i, self.s.charAt(i) == 'a')",
		"lists.range(100).exists(i, timestamp('2024-02-03T04:05:06Z').getHours(self.s) == 99)",
		"lists.range(100).exists(i, int(self.s) == i)",
		"lists.range(100).exists(i, {'a': 1}[self.s] == i)",
		"lists.range(100).exists(i, quantity('1e-9999').add(quantity('1')).isLessThan(quantity('0')))",
	} {
		s, err := newSubject(env, decl, src)
		if err != nil {
			t.Fatal(err)
		}
		s.ours.limit = noLimit
		a := Bind(decl, largeSelf())
		s.ours.Eval(context.Background(), a)
		took := spent(s, a)
		if !took.accounted() {
			t.Errorf("%s: %+v", src, took)
		}
		bounded := newest.Minor >= 38 && strings.Contains(src, "quantity") // by k8s.io/apimachinery 0.38
		if took.work = 0; took.accounted() && !bounded {
			t.Errorf("%s: its cost covers the work: %+v", src, took)
		}
	}
}

// FuzzWork evaluates random expressions over large values: work and cost must bound their memory
// and time.
func FuzzWork(f *testing.F) {
	if testing.Short() {
		f.Skip("takes long")
	}
	decl := declare(f, read(f, "testdata/schema.yaml"))
	env := environment(f, decl, false)
	for _, fn := range env.Functions() {
		for _, o := range fn.OverloadDecls() {
			if calls := largeCalls(fn, o); len(calls) > 0 && calls[0] != "" { // TestWorkOfOverloads makes all
				f.Add("lists.range(1000).all(i, dyn(" + calls[0] + ") != dyn(i))")
			}
		}
	}
	self := largeSelf()
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 2000 {
			t.Skip("takes too long to be checked for a fuzz step")
		}
		checked, err := celenv.Check(env, src)
		if err != nil {
			t.Skip("no expression: there is nothing to evaluate")
		}
		ours, err := New(env, checked, decl, 100_000)
		if err != nil {
			t.Skip("no program: there is nothing to evaluate")
		}
		a := Bind(decl, self)
		a.LimitWork(MaxWork / 4)
		var took spending
		used := cputime.Call(func() { took = spent(&subject{env, checked, decl, ours}, a) })
		var internal *InternalError
		if errors.As(took.err, &internal) {
			t.Errorf("%s: %v\n%s", src, internal, internal.Stack)
		}
		if used > 10*time.Second { // of less than a second of work: practically endless
			t.Errorf("%s: %+v: %s of processor time", src, took, used)
		}
		if !took.accounted() {
			t.Errorf("%s: %+v", src, took)
		}
	})
}

// BenchmarkWork prints the nanoseconds per unit of work for each overload with a demand. The
// factors are right if the result is about one or less.
func BenchmarkWork(b *testing.B) {
	decl := declare(b, read(b, "testdata/schema.yaml"))
	env := environment(b, decl, false)
	for _, fn := range env.Functions() {
		for _, o := range fn.OverloadDecls() {
			if demands[o.ID()] == nil {
				continue
			}
			for i, src := range largeCalls(fn, o) {
				s, err := newSubject(env, decl, src)
				if src == "" || err != nil {
					continue
				}
				s.ours.limit = noLimit
				b.Run(fmt.Sprintf("%s/%d", o.ID(), i), func(b *testing.B) {
					a := Bind(decl, largeSelf())
					work := uint64(0)
					for b.Loop() {
						s.ours.Eval(context.Background(), a)
						work += a.Work()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(work, 1)), "ns/unit")
				})
			}
		}
	}
}
