package compare

import (
	"errors"
	"flag"
	"testing"

	"github.com/celadon-cel/celadon/types"
)

const recordedFile = "testdata/recorded.jsonl.gz"

var update = flag.Bool("update", false, "record the verdicts of the programs in CELADON_ORACLES")

// recordedCRDs includes Celadon's own CRDs. recordedSize limits the size of a generated CRD in bytes, and
// recordedWrites is the number of writes for each generated CRD.
const (
	recordedCRDs   = 60
	recordedSize   = 12_000
	recordedWrites = 6
)

func TestRecorded(t *testing.T) {
	if *update {
		updateRecordings(t)
	}
	all, err := ReadRecordings(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all.Versions {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			server := &Server{KubeVersion: v.String()}
			rules, writes := 0, 0
			for _, r := range all.Cases {
				verdict, err := server.CRD(t.Context(), r.CRD)
				compareRecorded(t, v, r.Name, r.Verdicts, verdict, err)
				rules += len(verdict[rule])
				for _, w := range r.Writes {
					verdict, err := server.Write(t.Context(), w.Write)
					compareRecorded(t, v, r.Name+" "+string(w.Object), w.Verdicts, verdict, err)
					writes++
				}
			}
			t.Logf("%d CRDs, %d rules, %d writes", len(all.Cases), rules, writes)
		})
	}
}

func compareRecorded(t *testing.T, v types.Version, name string, recorded Verdicts, got Verdict, err error) {
	t.Helper()
	if errors.Is(err, ErrUndecided) {
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, d := range Differences(recorded.of(v), got) {
		if Known(&d, v.Minor) == "" {
			t.Errorf("%s: %s", name, &d)
		}
	}
}

// updateRecordings records generated cases and Celadon's own cases. With -minors, it adds the verdicts of
// those versions, which must be newer than the recorded ones, to the recorded cases.
func updateRecordings(t *testing.T) {
	folder, versions := oracles(t)
	programs := &recorder{versions: versions}
	for _, v := range versions {
		programs.oracles = append(programs.oracles, newRun(t, folder, v).Oracle)
	}
	all := &Recordings{}
	if *only == "" {
		all.Cases = newRecordings(t)
	} else {
		var err error
		if all, err = ReadRecordings(recordedFile); err != nil {
			t.Fatal(err)
		}
	}
	all.Versions = append(all.Versions, versions...)
	for _, r := range all.Cases {
		if err := programs.record(r); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
	}
	if err := all.Write(recordedFile); err != nil {
		t.Fatal(err)
	}
}

func newRecordings(t *testing.T) (all []*Recording) {
	t.Helper()
	own, err := ownCases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range own {
		all = append(all, newRecording(c))
	}
	g := NewGenerator(types.Last)
	for s := *seed; len(all) < recordedCRDs; s++ {
		c, err := g.Case(s, recordedWrites)
		if err != nil {
			t.Fatal(err)
		}
		if c != nil && len(c.CRD) <= recordedSize {
			all = append(all, newRecording(c))
		}
	}
	return all
}
