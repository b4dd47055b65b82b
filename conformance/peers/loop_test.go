package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/conformance"
	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

// results expects names of the form SECTION/row/object/side.
func bench(b *testing.B, row, object, side string, f func(b *testing.B)) {
	b.Helper()
	b.Run(row+"/"+strings.ReplaceAll(object, "/", ":")+"/"+side, f)
}

// single is the object of rows that have only one.
const single = "-"

// The processor time of f is divided by per. The time of less, which may be nil, is subtracted: it is the
// part of f that is not measured.
func loop(f, less func(), per int) func(b *testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		f() // so that memory pages are there
		start := cputime.Process()
		for b.Loop() {
			f()
		}
		used := cputime.Process() - start
		if less != nil {
			start := cputime.Process()
			for range b.N {
				less()
			}
			used -= cputime.Process() - start
		}
		b.ReportMetric(float64(used)/float64(b.N)/float64(per), "ns/op")
	}
}

func kept(f func() any) func(b *testing.B) {
	return func(b *testing.B) {
		const n = 4
		all := make([]any, n)
		f() // the first call also allocates shared data
		before := heap()
		for i := range all {
			all[i] = f()
		}
		after := heap()
		runtime.KeepAlive(all)
		b.ReportMetric((float64(after)-float64(before))/n/1024, "KiB-kept")
		b.ReportMetric(0, "ns/op") // is not shown
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type subject struct {
	name  string
	crd   *conformance.CRD
	cases []*conformance.Case
}

var measured = []string{
	"httproutes.gateway.networking.k8s.io",
	"gateways.gateway.networking.k8s.io",
	"infrastructures.config.openshift.io",
	"nodepools.karpenter.sh",
	"hostedclusters.hypershift.openshift.io",
}

const measuredCases = 60

var readSubjects = sync.OnceValues(func() ([]*subject, error) {
	var all []*subject
	for _, dir := range corpora() {
		corpus, err := conformance.ReadCorpus(dir)
		if err != nil {
			return nil, err
		}
		for _, c := range corpus.Cases {
			name := strings.TrimSuffix(filepath.Base(c.CRD.Path), ".yaml")
			if c.Variant || !slices.ContainsFunc(measured, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
				continue
			}
			i := slices.IndexFunc(all, func(s *subject) bool { return s.crd.Path == c.CRD.Path })
			if i < 0 {
				i, all = len(all), append(all, &subject{name: name, crd: c.CRD})
			}
			all[i].cases = append(all[i].cases, c)
		}
	}
	for _, s := range all {
		if cases := s.cases; len(cases) > measuredCases {
			s.cases = nil
			for i := range measuredCases {
				s.cases = append(s.cases, cases[i*len(cases)/measuredCases])
			}
		}
	}
	slices.SortFunc(all, func(a, b *subject) int { return strings.Compare(a.name, b.name) })
	return append(all, nested()), nil
})

func subjects(b *testing.B) []*subject {
	b.Helper()
	all, err := readSubjects()
	if err != nil {
		b.Fatal(err)
	}
	return all
}

func corpora() []string { return filepath.SplitList(os.Getenv("CELADON_CORPUS")) }

type run struct {
	args []string
	// per divides the time, for rows with a figure for each object.
	per int
	// peak is set if peak memory is measured.
	peak bool
	// wall is set if the run time is measured instead of processor time.
	wall bool
	// maxExit is the highest exit code that is not an error, if more than 1.
	maxExit int
}

func (r run) bench(b *testing.B) { inSequence(r)(b) }

// Peak memory is the memory of the largest program.
func inSequence(runs ...run) func(b *testing.B) {
	return func(b *testing.B) {
		var used, peak int64
		for b.Loop() {
			for _, r := range runs {
				cpu, memory := r.once(b)
				used, peak = used+cpu, max(peak, memory)
			}
		}
		if runs[0].wall {
			used = int64(b.Elapsed())
		}
		b.ReportMetric(float64(used)/float64(b.N)/float64(max(runs[0].per, 1)), "ns/op")
		if runs[0].peak {
			b.ReportMetric(float64(peak)/(1<<20), "MiB")
		}
	}
}

func (r run) once(b *testing.B) (used, peak int64) {
	b.Helper()
	cmd := exec.Command(r.args[0], r.args[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	memory := func() int64 { return 0 }
	if r.peak {
		memory = watchMemory(cmd.Process.Pid)
	}
	err := cmd.Wait()
	peak = memory()
	if code := cmd.ProcessState.ExitCode(); err != nil && (code < 0 || code > max(r.maxExit, 1)) {
		b.Fatalf("%s: %v\n%s", strings.Join(r.args, " "), err, stderr.String())
	}
	return int64(cputime.Exited(cmd.ProcessState)), peak
}

// peersVariable names the folder for files that benchmarks write. All turns use the same.
const peersVariable = "CELADON_PEERS"

// linesVariable is the number of objects in the input of check.
const linesVariable = "CELADON_PEERS_LINES"

func manyLines(b *testing.B) int {
	text := os.Getenv(linesVariable)
	if text == "" {
		return 100_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func celadon(b *testing.B) string {
	b.Helper()
	path := os.Getenv("CELADON_COMMAND")
	if path == "" {
		b.Skip("CELADON_COMMAND is not set to a built command: use go run ./peers")
	}
	return path
}

func newInput(b *testing.B) *Input {
	b.Helper()
	dir := os.Getenv(peersVariable)
	if dir == "" {
		dir = b.TempDir()
	}
	in, err := NewInput(dir, corpora())
	if err != nil {
		b.Fatal(err)
	}
	return in
}
