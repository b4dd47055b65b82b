package roundtrip

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

// Config determines the scope of a test. Its zero value is a sensible default.
type Config struct {
	// Seed selects the objects.
	Seed uint64
	// Objects is the approximate number of objects to generate, over all versions; 0 is DefaultObjects.
	Objects int
	// Slow is the time limit for a conversion; 0 is unlimited. Test still waits for Go functions
	// that ignore their context.
	Slow time.Duration
	// Ignore lists paths, such as spec.hosts[*].name, that may change.
	Ignore []string
	// Parallel is how many objects are converted at the same time; 0 is 1. With more, the converter has to limit the
	// time of a conversion itself, and Slow must be 0.
	Parallel int
	// Done is called after each object, if it is not nil.
	Done func()
}

// DefaultObjects is the default of Config.Objects.
const DefaultObjects = 1000

const (
	maxFindings = 50
	others      = 40
)

type tester struct {
	forms  *crdForms
	cfg    Config
	ignore [][]engine.Step
	report *Report
	known  map[string]*Finding
	pool   map[string][]map[string]any
	shrunk int
	mu     sync.Mutex // guards the rest
	// answered is set once the converter has responded. unanswered counts consecutive failures to respond.
	answered   bool
	unanswered int
}

// Test converts generated objects and reports the data that the converter loses. It returns an error if ctx is done,
// if the CRD cannot be used, if the converter no longer responds (the error wraps an *engine.NotCheckedError), or on
// an internal error. With an error, it also returns the report of earlier findings, if there are any.
func Test(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, c engine.Converter, cfg Config) (*Report, error) {
	if cfg.Objects == 0 {
		cfg.Objects = DefaultObjects
	}
	t, err := newTester(crd, c, cfg)
	if err != nil {
		return nil, err
	}
	for _, version := range t.forms.versions {
		err := t.forms.samples(ctx, version, cfg.Seed+1, others, func(obj map[string]any) bool {
			t.pool[version] = append(t.pool[version], obj)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	for _, version := range t.forms.versions {
		if err := t.version(ctx, version); err != nil {
			if !t.answered || len(t.report.Findings) == 0 {
				return nil, err
			}
			return t.report, err
		}
	}
	return t.report, nil
}

func newTester(crd *apiextensionsv1.CustomResourceDefinition, c engine.Converter, cfg Config) (t *tester, err error) {
	t = &tester{cfg: cfg, known: map[string]*Finding{}, report: &Report{Seed: cfg.Seed}, pool: map[string][]map[string]any{}}
	for _, path := range cfg.Ignore {
		steps, err := engine.ParsePath(path)
		if err != nil {
			return nil, err
		}
		t.ignore = append(t.ignore, steps)
	}
	t.forms, err = newForms(crd, c)
	return t, err
}

// Trips converts single objects as Test does. It is safe for concurrent use.
type Trips struct{ forms *crdForms }

// NewTrips compiles the CRD and returns Trips for it.
func NewTrips(crd *apiextensionsv1.CustomResourceDefinition, c engine.Converter) (*Trips, error) {
	w, err := newForms(crd, c)
	if err != nil {
		return nil, err
	}
	return &Trips{w}, nil
}

// Trip converts an object to a version and back, and returns the findings. If patch is not nil, Trip
// applies it as a merge patch to the converted object. The object is first pruned and defaulted in its
// own version; it is not validated.
func (r *Trips) Trip(ctx context.Context, object map[string]any, to string, patch map[string]any) ([]*Finding, error) {
	w := r.forms
	apiVersion, _ := object["apiVersion"].(string)
	from := strings.TrimPrefix(apiVersion, w.plain.Spec.Group+"/")
	for _, version := range []string{from, to} {
		if !slices.Contains(w.versions, version) {
			return nil, fmt.Errorf("version %q: want a served or stored version: %s", version, strings.Join(w.versions, ", "))
		}
	}
	if from == to {
		return nil, fmt.Errorf("version %q: want a version other than the object's own", to)
	}
	object, err := w.plainEngine.Convert(ctx, object, from) // does not call the converter
	if err != nil {
		return nil, err
	}
	trip := &trip{tester: &tester{forms: w}, ctx: ctx, from: from, to: to, object: object}
	if patch != nil {
		trip.change = &Change{Patch: patch}
	}
	err = trip.run()
	return trip.found, err
}

func (t *tester) version(ctx context.Context, from string) error {
	first := len(t.report.Pairs)
	for _, to := range t.forms.versions {
		if to != from {
			t.report.Pairs = append(t.report.Pairs, Pair{From: from, To: to, Role: t.role(from, to)})
		}
	}
	pairs := t.report.Pairs[first:]
	n := (t.cfg.Objects + len(t.forms.versions) - 1) / len(t.forms.versions)
	var failed error
	var batch []*sample
	made := 0
	err := t.forms.samples(ctx, from, t.cfg.Seed, n, func(obj map[string]any) bool {
		s := &sample{obj, rand.New(rand.NewPCG(t.cfg.Seed, uint64(first)<<32|uint64(made)))}
		s.name()
		batch = append(batch, s)
		made++
		if t.answered && len(batch) < t.cfg.Parallel { // one object at a time until the converter responds
			return true
		}
		failed = t.convert(ctx, pairs, batch)
		batch = nil
		return failed == nil
	})
	if failed == nil && err == nil && len(batch) > 0 {
		failed = t.convert(ctx, pairs, batch)
	}
	if failed != nil {
		return failed
	}
	if err == nil && made == 0 {
		return fmt.Errorf("version %s: no accepted object was found, so there is nothing to convert", from)
	}
	return err
}

func (t *tester) convert(ctx context.Context, pairs []Pair, batch []*sample) error {
	for i := range pairs {
		if err := t.pair(ctx, &pairs[i], batch); err != nil {
			return err
		}
	}
	for range batch {
		if t.cfg.Done != nil {
			t.cfg.Done()
		}
	}
	return nil
}

func (t *tester) role(from, to string) string {
	switch t.forms.hub {
	case from:
		return "hub-spoke-hub"
	case to:
		return "spoke-hub-spoke"
	}
	return "spoke-spoke"
}

type sample struct {
	object map[string]any
	rng    *rand.Rand
}

func (s *sample) name() {
	meta := map[string]any{"name": "example"}
	if s.rng.IntN(3) == 0 {
		meta["labels"] = map[string]any{"example.com/label": "example"}
	}
	if s.rng.IntN(3) == 0 {
		meta["annotations"] = map[string]any{"example.com/annotation": "example"}
	}
	s.object["metadata"] = meta
}

func (t *tester) pair(ctx context.Context, p *Pair, batch []*sample) error {
	plain := make([]*trip, len(batch))
	for i, s := range batch {
		p.Objects++
		plain[i] = &trip{tester: t, ctx: ctx, from: p.From, to: p.To, object: s.object}
	}
	if err := t.run(ctx, plain); err != nil {
		return err
	}
	var changed []*trip
	pool := t.pool[p.To]
	for i, s := range batch {
		if len(pool) == 0 || plain[i].back == nil {
			continue
		}
		change := changeTo(s.rng, plain[i].converted, pool[s.rng.IntN(len(pool))])
		if change == nil || slices.ContainsFunc(t.ignore, func(p []engine.Step) bool { return covers(p, change.steps) }) {
			continue
		}
		p.Changed++
		changed = append(changed, &trip{tester: t, ctx: ctx, from: p.From, to: p.To, object: s.object, change: change})
	}
	return t.run(ctx, changed)
}

// run makes trips at the same time and takes their findings in order.
func (t *tester) run(ctx context.Context, trips []*trip) error {
	errs := make([]error, len(trips))
	var all sync.WaitGroup
	for i, trip := range trips {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
				}
			}()
			errs[i] = trip.run()
		})
	}
	all.Wait()
	for i, trip := range trips {
		if errs[i] != nil {
			return errs[i]
		}
		if err := t.take(ctx, trip.found); err != nil {
			return err
		}
	}
	return nil
}

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

// All items of a list have the same key.
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
