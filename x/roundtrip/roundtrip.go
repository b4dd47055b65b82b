package roundtrip

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

// Config is how much is tried. The zero value is sensible.
type Config struct {
	// Seed chooses other objects.
	Seed uint64
	// Objects is how many are made, in all versions together; 0 is
	// DefaultObjects.
	Objects int
	// Slow is when a conversion takes too long; 0: never. A Go function that does
	// not look at its context is waited for all the same.
	Slow time.Duration
	// Ignore are places, as spec.hosts[*].name, that may come back as others.
	Ignore []string
}

// DefaultObjects is a matter of seconds with a converter in this process.
const DefaultObjects = 1000

const (
	// maxFindings is how many are told.
	maxFindings = 50
	// others is how many objects of a version changes are taken from.
	others = 40
)

type tester struct {
	worlds *crdForms
	cfg    Config
	ignore [][]engine.Step
	rng    *rand.Rand
	report *Report
	known  map[string]*Finding
	pool   map[string][]map[string]any
	// shrunk is how many smaller objects were tried.
	shrunk int
	// answered: the converter once did; unanswered is how often in a row it did not.
	answered   bool
	unanswered int
}

// Test makes objects and looks at what the converter makes of them. The error is
// for a cancelled context, a CRD that cannot be used, a converter that does not
// answer any more (an *engine.NotCheckedError within), or a bug of ours; beside it
// stands the report of what was found before, if there is one.
func Test(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, c engine.Converter, cfg Config) (*Report, error) {
	if cfg.Objects == 0 {
		cfg.Objects = DefaultObjects
	}
	t, err := newTester(crd, c, cfg)
	if err != nil {
		return nil, err
	}
	for _, version := range t.worlds.versions {
		err := t.worlds.samples(ctx, version, cfg.Seed+1, others, func(obj map[string]any) bool {
			t.pool[version] = append(t.pool[version], obj)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	for _, version := range t.worlds.versions {
		if err := t.version(ctx, version); err != nil {
			return t.sofar(), err
		}
	}
	return t.report, nil
}

// sofar is the report where something was found of who does answer, else nil.
func (t *tester) sofar() *Report {
	if !t.answered || len(t.report.Findings) == 0 {
		return nil
	}
	return t.report
}

func newTester(crd *apiextensionsv1.CustomResourceDefinition, c engine.Converter, cfg Config) (*tester, error) {
	t := &tester{cfg: cfg, known: map[string]*Finding{}, report: &Report{Seed: cfg.Seed}, pool: map[string][]map[string]any{}}
	for _, path := range cfg.Ignore {
		steps, err := engine.ParsePath(path)
		if err != nil {
			return nil, err
		}
		t.ignore = append(t.ignore, steps)
	}
	var err error
	t.worlds, err = newForms(crd, c)
	return t, err
}

// Trips sends single objects as Test does. It is safe for concurrent use.
type Trips struct{ worlds *crdForms }

// NewTrips compiles the CRD.
func NewTrips(crd *apiextensionsv1.CustomResourceDefinition, c engine.Converter) (*Trips, error) {
	w, err := newForms(crd, c)
	if err != nil {
		return nil, err
	}
	return &Trips{w}, nil
}

// Trip sends one object to a version and back, with the merge patch in between where
// it is not nil. What is sent is the object as its own version takes it, pruned and
// with defaults; it is not validated.
func (r *Trips) Trip(ctx context.Context, object map[string]any, to string, patch map[string]any) ([]*Finding, error) {
	w := r.worlds
	apiVersion, _ := object["apiVersion"].(string)
	from := strings.TrimPrefix(apiVersion, w.plain.Spec.Group+"/")
	for _, version := range []string{from, to} {
		if !slices.Contains(w.versions, version) {
			return nil, fmt.Errorf("version %q: want one that is served or stored: %s", version, strings.Join(w.versions, ", "))
		}
	}
	if from == to {
		return nil, fmt.Errorf("version %q: the object is in it: want another", to)
	}
	object, err := w.plainEngine.Convert(ctx, object, from) // nobody is asked for that
	if err != nil {
		return nil, err
	}
	trip := &trip{tester: &tester{worlds: w}, ctx: ctx, from: from, to: to, object: object}
	if patch != nil {
		trip.change = &Change{Patch: patch}
	}
	err = trip.run()
	return trip.found, err
}

// version sends objects of one version to all others.
func (t *tester) version(ctx context.Context, from string) error {
	first := len(t.report.Pairs)
	for _, to := range t.worlds.versions {
		if to != from {
			t.report.Pairs = append(t.report.Pairs, Pair{From: from, To: to, Role: t.role(from, to)})
		}
	}
	t.rng = rand.New(rand.NewPCG(t.cfg.Seed, uint64(first)))
	n := (t.cfg.Objects + len(t.worlds.versions) - 1) / len(t.worlds.versions)
	var failed error
	made := 0
	err := t.worlds.samples(ctx, from, t.cfg.Seed, n, func(obj map[string]any) bool {
		t.named(obj)
		made++
		for i := first; i < len(t.report.Pairs) && failed == nil; i++ {
			failed = t.pair(ctx, &t.report.Pairs[i], obj)
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err == nil && made == 0 {
		return fmt.Errorf("version %s: no object was found that it admits: nothing to convert", from)
	}
	return err
}

func (t *tester) role(from, to string) string {
	switch t.worlds.hub {
	case from:
		return "hub-spoke-hub"
	case to:
		return "spoke-hub-spoke"
	}
	return "spoke-spoke"
}

// named gives an object labels and annotations, by lot.
func (t *tester) named(obj map[string]any) {
	meta := map[string]any{"name": "example"}
	if t.rng.IntN(3) == 0 {
		meta["labels"] = map[string]any{"example.com/label": "example"}
	}
	if t.rng.IntN(3) == 0 {
		meta["annotations"] = map[string]any{"example.com/annotation": "example"}
	}
	obj["metadata"] = meta
}

// pair sends an object to a version, as it is and with a change.
func (t *tester) pair(ctx context.Context, p *Pair, obj map[string]any) error {
	p.Objects++
	plain := &trip{tester: t, ctx: ctx, from: p.From, to: p.To, object: obj}
	if err := plain.run(); err != nil {
		return err
	}
	if err := t.take(ctx, plain.found); err != nil {
		return err
	}
	pool := t.pool[p.To]
	if len(pool) == 0 || plain.back == nil {
		return nil
	}
	change := changeTo(t.rng, plain.converted, pool[t.rng.IntN(len(pool))])
	if change == nil || slices.ContainsFunc(t.ignore, func(p []engine.Step) bool { return covers(p, change.steps) }) {
		return nil
	}
	p.Changed++
	changed := &trip{tester: t, ctx: ctx, from: p.From, to: p.To, object: obj, change: change}
	if err := changed.run(); err != nil {
		return err
	}
	return t.take(ctx, changed.found)
}

// take counts findings, and makes new ones smaller.
func (t *tester) take(ctx context.Context, found []*Finding) error {
	for _, f := range found {
		key := f.key()
		if known := t.known[key]; known != nil {
			known.Times++
			continue
		}
		if len(t.report.Findings) >= maxFindings {
			t.report.More = true
			continue
		}
		small, err := t.shrink(ctx, f)
		if err != nil {
			return err
		}
		t.known[key] = small
		t.report.Findings = append(t.report.Findings, small)
	}
	return nil
}

// key is what tells findings apart: items of a list are one place.
func (f *Finding) key() string {
	steps, err := engine.ParsePath(f.Path)
	if err != nil {
		return fmt.Sprint(f.Kind, f.From, f.To, f.Path)
	}
	for i := range steps {
		if steps[i].Item {
			steps[i] = engine.Step{Any: true}
		}
	}
	return fmt.Sprint(f.Kind, " ", f.From, " ", f.To, " ", engine.FormatPath(steps))
}
