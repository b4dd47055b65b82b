//go:build unix

package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

const (
	loadClients = 64
	replaceEach = 100 * time.Millisecond
)

// loadTime returns how long a load test runs: CELADON_LOAD, for example 60s, or 2 seconds.
func loadTime(t testing.TB) time.Duration {
	text := os.Getenv("CELADON_LOAD")
	if text == "" {
		return 2 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("CELADON_LOAD: %v", err)
	}
	return d
}

type loadItem struct {
	name, body string
	right      func(*admissionv1.AdmissionResponse) string
	// known holds responses that have been found correct.
	known sync.Map
}

type workload struct {
	crds  []*apiextensionsv1.CustomResourceDefinition
	items []*loadItem
}

func newWorkload(t testing.TB) *workload {
	t.Helper()
	for _, dir := range corpus.Named(t) {
		if w := corpusWorkload(t, dir, "gateway-api"); len(w.items) > 0 {
			return w
		}
	}
	w := &workload{crds: []*apiextensionsv1.CustomResourceDefinition{corpus.ReadCRD(t, exampleD)}}
	w.add("good", cronTab(goodSpec), (&corpusAnswer{Verdict: "valid"}).differs)
	w.add("bad", cronTab(badSpec), (&corpusAnswer{Verdict: "invalid", Causes: []causeT{
		{"FieldValueInvalid", "spec.schedule", `Invalid value: "@daily": must have five fields`},
	}}).differs)
	return w
}

func (w *workload) add(name, body string, right func(*admissionv1.AdmissionResponse) string) {
	w.items = append(w.items, &loadItem{name: name, body: body, right: right})
}

func corpusWorkload(t testing.TB, dir, project string) *workload {
	w := &workload{}
	set := admission.NewSet(admission.Config{})
	cases := readCorpus(t, dir, project)
	for _, path := range slices.Sorted(maps.Keys(cases)) {
		if strings.Contains(path, "--") && !strings.Contains(path, "--standard") {
			continue
		}
		crd := corpusCRD(t, filepath.Join(dir, path))
		if err := set.Put(crd); err != nil {
			t.Fatal(err)
		}
		w.crds = append(w.crds, crd)
		for _, c := range cases[path] {
			if c.OldObject == nil {
				w.add(c.id, c.review(set, crd, false), c.answer.differs)
			}
		}
	}
	return w
}

func (w *workload) replace(t testing.TB, put func(*apiextensionsv1.CustomResourceDefinition) error, every time.Duration, gate *sync.RWMutex, done <-chan struct{}) (replaced int) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ; ; replaced++ {
		select {
		case <-done:
			return replaced
		case <-tick.C:
		}
		crd := w.crds[replaced%len(w.crds)].DeepCopy()
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Description = fmt.Sprint("replaced ", replaced)
		}
		gate.RLock()
		if err := put(crd); err != nil {
			t.Error(err)
		}
		gate.RUnlock()
	}
}

type loadResult struct {
	requests     atomic.Int64
	wrong        atomic.Int64
	replaced     int
	took, cpu    time.Duration // includes the clients
	latency      latencies
	early, later uint64 // heap size after garbage collection
}

// latencies counts in steps of 2 %, so that its size does not depend on the length of the run.
type latencies struct{ counts [1000]atomic.Int64 }

const latencyStep = 1.02

func (l *latencies) add(d time.Duration) {
	i := int(math.Log(float64(d.Microseconds()+1)) / math.Log(latencyStep))
	l.counts[min(i, len(l.counts)-1)].Add(1)
}

func (l *latencies) quantile(q float64) time.Duration {
	total := int64(0)
	for i := range l.counts {
		total += l.counts[i].Load()
	}
	left := int64(math.Ceil(q * float64(total)))
	for i := range l.counts {
		if left -= l.counts[i].Load(); left <= 0 {
			return time.Duration(math.Pow(latencyStep, float64(i)+0.5)) * time.Microsecond
		}
	}
	return 0
}

func (r *loadResult) perSecond() float64 { return float64(r.requests.Load()) / r.took.Seconds() }

// CPU time is more stable than other results on a shared machine.
func (r *loadResult) cpuEach() time.Duration {
	return r.cpu / time.Duration(max(1, r.requests.Load()))
}

func (r *loadResult) String() string {
	return fmt.Sprintf("%.0f requests/s, p50 %s, p99 %s, %s CPU a request, %d wrong answers of %d, %d CRDs replaced",
		r.perSecond(), r.latency.quantile(.5).Round(time.Microsecond), r.latency.quantile(.99).Round(time.Microsecond),
		r.cpuEach().Round(time.Microsecond), r.wrong.Load(), r.requests.Load(), r.replaced)
}

func (w *workload) run(t testing.TB, s *serving, put func(*apiextensionsv1.CustomResourceDefinition) error, every, d time.Duration) *loadResult {
	t.Helper()
	for _, item := range w.items { // allocates what tests and metrics keep for each item, before the heap is measured
		item.send(t, s, &loadResult{})
	}
	res := &loadResult{}
	done := make(chan struct{})
	var gate sync.RWMutex // locked while the heap is measured
	var running sync.WaitGroup
	for n := range loadClients {
		running.Go(func() {
			for i := n; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				gate.RLock()
				w.items[i%len(w.items)].send(t, s, res)
				gate.RUnlock()
			}
		})
	}
	if every > 0 {
		running.Go(func() { res.replaced = w.replace(t, put, every, &gate, done) })
	}
	start, cpu := time.Now(), cputime.Process()
	time.Sleep(d / 6)
	res.early = heap(&gate)
	time.Sleep(d - d/6)
	res.later = heap(&gate)
	close(done)
	running.Wait()
	res.took, res.cpu = time.Since(start), cputime.Process()-cpu
	return res
}

func heap(gate *sync.RWMutex) uint64 {
	gate.Lock()
	defer gate.Unlock()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (item *loadItem) send(t testing.TB, s *serving, res *loadResult) {
	start := time.Now()
	answer, err := item.post(s)
	res.latency.add(time.Since(start))
	res.requests.Add(1)
	if err == nil {
		err = item.check(answer)
	}
	if err != nil && res.wrong.Add(1) <= 10 {
		t.Errorf("%s: %v", item.name, err)
	}
}

func (item *loadItem) post(s *serving) (string, error) {
	answer, err := s.client.Post(s.url("/validate?timeout=30s"), "application/json", strings.NewReader(item.body))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%d: %s", answer.StatusCode, data)
	}
	return string(data), err
}

func (item *loadItem) check(answer string) error {
	if _, ok := item.known.Load(answer); ok {
		return nil
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal([]byte(answer), &review); err != nil || review.Response == nil {
		return fmt.Errorf("%v: %s", err, answer)
	}
	if diff := item.right(review.Response); diff != "" {
		return fmt.Errorf("%s", diff)
	}
	item.known.Store(answer, true)
	return nil
}

func TestServeLoad(t *testing.T) {
	w := newWorkload(t)
	s, set := startSet(t)
	if err := set.Apply(w.crds, nil); err != nil {
		t.Fatal(err)
	}
	d := loadTime(t)
	res := w.run(t, s, set.Put, replaceEach, d)
	growth := float64(res.later)/float64(res.early) - 1
	t.Logf("%d clients, %d objects, %s: %s", loadClients, len(w.items), d, res)
	t.Logf("heap %.1f MiB after a sixth of the time, %.1f MiB at the end (%+.1f %%)", mib(res.early), mib(res.later), 100*growth)
	if d >= time.Minute && growth > .05 {
		t.Errorf("the heap grows: %+.1f %%", 100*growth)
	}
	if res.requests.Load() == 0 || res.replaced == 0 {
		t.Error("nothing happened")
	}
	_, text := s.get("/metrics")
	if !strings.Contains(text, "celadon_panics_total 0") || strings.Contains(text, `code="5`) {
		t.Error("the server saw errors")
	}
}

func mib(n uint64) float64 { return float64(n) / (1 << 20) }
