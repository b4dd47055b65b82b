package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/conformance/fuzz"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

const (
	// sampleCRDs is the number of CRDs in a sample of a project, sampleCases the number of cases
	// per CRD.
	sampleCRDs, sampleCases = 3, 30
	mutantsPerCase          = 2
)

var (
	update        = flag.Bool("update", false, "TestCases and TestSuite: write the real server's answers to testdata and suite/data")
	scenarios     = flag.Uint64("scenarios", 60, "TestScenariosOnServer: how many made-up CRDs are tried")
	firstScenario = flag.Uint64("seed", 1, "TestScenariosOnServer: the first one's seed")
)

func TestCases(t *testing.T) {
	all, err := ReadOwn("testdata")
	if err != nil {
		t.Fatal(err)
	}
	report := NewReport("cases")
	startServer(t).tryOwn(t.Context(), all, report, *update)
	finish(t, report)
}

func TestAnswers(t *testing.T) {
	all := readCorpora(t)
	report := NewReport("answers")
	reportUnreadable(all, report)
	Replay(t.Context(), groups(all.Cases), report)
	finish(t, report)
}

func TestServer(t *testing.T) {
	read := readCorpora(t)
	all := groups(read.Cases)
	if !level.Long() {
		all = sample(all, sampleCRDs, sampleCases)
	}
	report := NewReport("server")
	reportUnreadable(read, report)
	startServer(t).Sweep(t.Context(), all, report)
	finish(t, report)
}

func TestMutants(t *testing.T) {
	read := readCorpora(t)
	all := groups(read.Cases)
	if !level.Long() {
		all = sample(all, sampleCRDs/2, sampleCases/6)
	}
	report := NewReport("mutants")
	startServer(t).Sweep(t.Context(), Mutants(all, mutantsPerCase), report)
	finish(t, report)
}

func TestScenariosOnServer(t *testing.T) {
	report := NewReport("scenarios")
	groups := Scenarios(fuzz.NewLibrary(), *firstScenario, *scenarios)
	BreakRules(groups, *firstScenario)
	startServer(t).Sweep(t.Context(), groups, report)
	finish(t, report)
}

func TestKeysOnServer(t *testing.T) {
	n := 200
	if level.Long() {
		n = 2000
	}
	group, err := Keys(*firstScenario, n)
	if err != nil {
		t.Fatal(err)
	}
	report := NewReport("keys")
	startServer(t).Sweep(t.Context(), []*Group{group}, report)
	finish(t, report)
}

func TestScalesOnServer(t *testing.T) {
	n := 300
	if level.Long() {
		n = 3000
	}
	group, err := Scales(*firstScenario, n)
	if err != nil {
		t.Fatal(err)
	}
	report := NewReport("scales")
	startServer(t).Sweep(t.Context(), []*Group{group}, report)
	finish(t, report)
}

// A case is identified by its folder and line.
func TestUnitCalls(t *testing.T) {
	report := NewReport("unit-calls")
	for folder, dir := range corpus.Folders(t) {
		calls, err := ReadUnitCalls(filepath.Join(dir, "extra", "apiextensions-cel-unit.jsonl"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, call := range calls {
			replayCall(t.Context(), fmt.Sprintf("%d:%d", folder+1, i+1), call, report)
		}
	}
	finish(t, report)
}

func replayCall(ctx context.Context, id string, call *UnitCall, report *Report) {
	differences, err := call.replay(ctx)
	if err != nil {
		report.Error(id, err)
		return
	}
	report.Add(id, differences...)
}

func startServer(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func finish(t *testing.T, report *Report) {
	t.Helper()
	known, err := ReadKnown("known_failures.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Close(os.Stdout, known); err != nil {
		t.Error(err)
	}
}

var corpora struct {
	sync.Once
	all *Corpus
	err error
}

func readCorpora(t *testing.T) *Corpus {
	t.Helper()
	folders := corpus.Folders(t)
	corpora.Do(func() {
		corpora.all = &Corpus{Unreadable: map[string]error{}}
		for _, dir := range folders {
			one, err := ReadCorpus(dir)
			if err != nil {
				corpora.err = err
				return
			}
			corpora.all.Add(one)
		}
	})
	if corpora.err != nil {
		t.Fatal(corpora.err)
	}
	return corpora.all
}

func reportUnreadable(read *Corpus, report *Report) {
	for id, err := range read.Unreadable {
		report.Error(id, err)
	}
}
