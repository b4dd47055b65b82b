package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/celadon-cel/celadon/engine"
)

const (
	// crdsAtOnce is the number of CRDs in use at the same time, which hides the time until a CRD is
	// served.
	crdsAtOnce = 4
	// objectsAtOnce is the number of concurrent writes per CRD.
	objectsAtOnce = 4
)

// Replay compares the engine with the recorded responses and the maintainers' expectations, without
// a server.
func Replay(ctx context.Context, all []*Group, report *Report) {
	each(runtime.NumCPU(), all, func(g *Group) {
		e, err := compile(g.CRD, "")
		for _, c := range g.Cases {
			if err != nil {
				report.Error(c.ID, err)
				continue
			}
			replay(ctx, e, c, report)
			if c.Variant {
				report.Note("of them cases with a further variant of their CRD")
			}
		}
	})
}

func replay(ctx context.Context, e *engine.Engine, c *Case, report *Report) {
	ours, err := decide(ctx, e, engine.Request{
		Object: c.Object, OldObject: c.OldObject, Subresource: c.Subresource, FieldValidation: c.FieldValidation,
	})
	if err != nil {
		report.Error(c.ID, err)
		return
	}
	report.Add(c.ID, compareWithRecorded(c, ours)...)
}

// Sweep runs cases on a server and compares the engine's results with the server's.
func (s *Server) Sweep(ctx context.Context, all []*Group, report *Report) {
	each(crdsAtOnce, chains(all), func(chain []*Group) {
		for _, g := range chain {
			s.sweepGroup(ctx, g, report)
		}
	})
}

// chains groups the variants of a CRD, which run consecutively because the server can only serve
// one at a time.
func chains(all []*Group) [][]*Group {
	index := map[string]int{}
	var out [][]*Group
	for _, g := range all {
		name := g.CRD.Definition.Name
		i, ok := index[name]
		if !ok {
			i = len(out)
			index[name] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], g)
	}
	return out
}

func (s *Server) sweepGroup(ctx context.Context, g *Group, report *Report) {
	fail := func(err error) {
		for _, c := range g.Cases {
			report.Error(c.ID, err)
		}
	}
	e, err := compile(g.CRD, s.kubeVersion)
	if err != nil {
		fail(err)
		return
	}
	r, err := s.Serve(ctx, g.CRD.Definition)
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || panicked(err) {
		report.Note("CRDs that the server refuses today, put into etcd")
		if r, err = s.serveStored(ctx, g.CRD.Definition); err != nil {
			for _, c := range g.Cases {
				if !c.known() {
					report.Note("cases not counted: the server cannot serve their CRD, and nothing is known of the answer")
					continue
				}
				report.Note("cases held to recorded answers only: the server cannot serve their CRD")
				replay(ctx, e, c, report)
			}
			return
		}
	}
	if err != nil {
		fail(err)
		return
	}
	each(objectsAtOnce, numbered(g.Cases), func(n int) {
		r.sweepCase(ctx, e, g.Cases[n], fmt.Sprintf("case-%d", n), report)
	})
	if err := r.Remove(ctx); err != nil {
		report.Error(g.CRD.variant(), fmt.Errorf("remove the CRD: %w", err))
	}
}

func (r *Resource) sweepCase(ctx context.Context, e *engine.Engine, c *Case, namespace string, report *Report) {
	t, err := r.try(ctx, c, namespace)
	if errors.Is(err, errOldRejected) && !c.known() {
		report.Note("cases not counted: the server does not store their old object, and nothing is known of the answer")
		return
	}
	if errors.Is(err, errOldRejected) && c.Claim == nil {
		report.Note("cases held to recorded answers only: the server does not store their old object")
		replay(ctx, e, c, report)
		return
	}
	if panicked(err) {
		report.Note("cases not counted: the server panics")
		return
	}
	if err != nil {
		report.Error(c.ID, err)
		return
	}
	if t.seeded && !c.Ratcheting {
		report.Note("old objects that today's schema refuses, put into etcd")
	}
	if c.Recorded != nil && len(compare(t.answer, *c.Recorded, aspects{object: true})) > 0 {
		report.Note("recorded answers that the server contradicts")
	}
	ours, err := decide(ctx, e, t.request)
	if err != nil {
		report.Error(c.ID, err)
		return
	}
	if t.answer.Allowed {
		report.Note("accepted by the server")
	}
	out := compare(t.answer, ours, everything)
	if len(out) > 0 && r.varies(ctx, c, namespace, t.answer, ours) {
		report.Note("cases that the server answers by chance, in the order of a Go map; ours is among its answers")
		out = nil
	}
	if len(out) == 0 {
		out = append(demanded(c, &t.answer, ours), c.claimed(t, ours)...)
		if t.answer.Message != ours.Message {
			report.Note("refusals whose message has its errors in another order")
		}
	}
	report.Add(c.ID, out...)
}

// everything is compared with a server's response to the same request, and claims with the
// prediction of a search, which does not depend on the names and namespaces of the run.
var (
	everything = aspects{code: true, warnings: true, object: true, here: true}
	claims     = aspects{code: true, warnings: true, object: true}
)

// varies reports whether the server's response changes between requests and Celadon's result is
// consistent with these responses.
func (r *Resource) varies(ctx context.Context, c *Case, namespace string, first, ours Answer) bool {
	seen := []Answer{first}
	for range answersByChance {
		t, err := r.try(ctx, c, namespace)
		if err != nil {
			return false
		}
		seen = append(seen, t.answer)
		if len(compare(t.answer, ours, everything)) == 0 || among(seen, ours) {
			return true
		}
	}
	return false
}

// answersByChance limits the requests of varies.
const answersByChance = 60

// among reports whether the responses in seen differ, each cause in ours is in at least one
// response, and ours includes all causes that the responses have in common.
func among(seen []Answer, ours Answer) bool {
	var some, always []Cause
	varies := false
	for i, a := range seen {
		if i == 0 {
			some, always = a.Causes, a.Causes
			continue
		}
		varies = varies || len(compareCauses(seen[0].Causes, a.Causes)) > 0
		some = append(some, subtract(a.Causes, some)...)
		always = subtract(always, subtract(always, a.Causes))
	}
	return varies && len(subtract(ours.Causes, some)) == 0 && len(subtract(always, ours.Causes)) == 0
}

func each[T any](n int, all []T, do func(T)) {
	work := make(chan T)
	var workers sync.WaitGroup
	for range min(n, len(all)) {
		workers.Go(func() {
			for x := range work {
				do(x)
			}
		})
	}
	for _, x := range all {
		work <- x
	}
	close(work)
	workers.Wait()
}

func numbered[T any](all []T) []int {
	return slices.Collect(func(yield func(int) bool) {
		for i := range all {
			if !yield(i) {
				return
			}
		}
	})
}
