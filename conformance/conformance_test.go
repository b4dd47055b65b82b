package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

const (
	// fullVariable makes TestServer try everything.
	fullVariable = "CELADON_FULL"

	// A sample is this much of each project.
	sampleCRDs, sampleCases = 4, 60
	mutantsPerCase          = 2
)

var (
	update     = flag.Bool("update", false, "TestCases: rewrite what testdata wants from the real server's answers")
	worlds     = flag.Uint64("worlds", 60, "TestWorldsOnServer: how many made-up CRDs are tried")
	firstWorld = flag.Uint64("seed", 1, "TestWorldsOnServer: the first one's seed")
)

// TestCases tries our own cases on a real server: the server must answer what
// the file wants, and the engine what the server answers.
func TestCases(t *testing.T) {
	all, err := ReadOwn("testdata")
	if err != nil {
		t.Fatal(err)
	}
	report := NewReport("cases")
	startServer(t).tryOwn(t.Context(), all, report, *update)
	finish(t, report)
}

// TestAnswers holds the engine to a corpus without a server.
func TestAnswers(t *testing.T) {
	all := readCorpora(t)
	report := NewReport("answers")
	reportUnreadable(all, report)
	Replay(t.Context(), groups(all.Cases), report)
	finish(t, report)
}

// TestServer tries a corpus on a real server.
func TestServer(t *testing.T) {
	read := readCorpora(t)
	all := groups(read.Cases)
	if os.Getenv(fullVariable) == "" {
		all = sample(all, sampleCRDs, sampleCases)
	}
	report := NewReport("server")
	reportUnreadable(read, report)
	startServer(t).Sweep(t.Context(), all, report)
	finish(t, report)
}

// TestMutants tries objects of a corpus on a real server with something changed
// in each.
func TestMutants(t *testing.T) {
	read := readCorpora(t)
	all := groups(read.Cases)
	if os.Getenv(fullVariable) == "" {
		all = sample(all, sampleCRDs/2, sampleCases/6)
	}
	report := NewReport("mutants")
	startServer(t).Sweep(t.Context(), Mutants(all, mutantsPerCase), report)
	finish(t, report)
}

// TestWorldsOnServer tries made-up CRDs and objects on a real server: cases
// that nobody wrote. -seed and -worlds choose others.
func TestWorldsOnServer(t *testing.T) {
	report := NewReport("worlds")
	groups := Worlds(*firstWorld, *worlds)
	BreakRules(groups, *firstWorld)
	startServer(t).Sweep(t.Context(), groups, report)
	finish(t, report)
}

// TestKeysOnServer tries objects with keys that nobody expects, printable and
// not: what the server says of them in texts and in headers is the same, or is
// nothing. -seed chooses others.
func TestKeysOnServer(t *testing.T) {
	n := 200
	if os.Getenv(fullVariable) != "" {
		n = 2000
	}
	group, err := Keys(*firstWorld, n)
	if err != nil {
		t.Fatal(err)
	}
	report := NewReport("keys")
	startServer(t).Sweep(t.Context(), []*Group{group}, report)
	finish(t, report)
}

// TestScalesOnServer tries made-up writes to the scale subresource: of what a
// Scale cannot be made of, and of Scales that are none. -seed chooses others.
func TestScalesOnServer(t *testing.T) {
	n := 300
	if os.Getenv(fullVariable) != "" {
		n = 3000
	}
	group, err := Scales(*firstWorld, n)
	if err != nil {
		t.Fatal(err)
	}
	report := NewReport("scales")
	startServer(t).Sweep(t.Context(), []*Group{group}, report)
	finish(t, report)
}

// TestUnitCalls replays the calls of the API server's own unit tests. A case is
// named by its folder and its line.
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

func readCorpora(t *testing.T) *Corpus {
	t.Helper()
	all := &Corpus{Unreadable: map[string]error{}}
	for _, dir := range corpus.Folders(t) {
		one, err := ReadCorpus(dir)
		if err != nil {
			t.Fatal(err)
		}
		all.Add(one)
	}
	return all
}

func reportUnreadable(read *Corpus, report *Report) {
	for id, err := range read.Unreadable {
		report.Error(id, err)
	}
}
