package conformance

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	libraries "github.com/celadon-cel/celadon/conformance/minors/compare"
	"github.com/celadon-cel/celadon/conformance/suite"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/types"
)

// oraclesVariable names the environment variable with the folder of the programs of all minor
// versions. make -C conformance oracles builds them.
const oraclesVariable = "CELADON_ORACLES"

// The responses of the newest minor version come from the real server, and the responses of the other
// versions from the programs in CELADON_ORACLES. Without them, TestSuite uses the recorded ones.
func TestSuite(t *testing.T) {
	groups, inputs, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := suite.Default()
	if err != nil && !*update {
		t.Fatal(err)
	}
	r := &suiteRecorder{newest: types.Version{Minor: types.Newest}.String(), oracles: startOracles(t)}
	if *update && r.oracles == nil {
		t.Fatal("-update needs " + oraclesVariable)
	}
	tried := inputs
	if !level.Long() && !*update {
		tried = sampleInputs(inputs)
	}
	if err := r.serveInputs(t.Context(), startServer(t), tried); err != nil {
		t.Fatal(err)
	}
	s := &suite.Suite{Head: suite.Head{Format: suite.Format, Groups: groups}}
	if r.oracles == nil {
		s.Minors = recorded.Minors
	} else if s.Minors, err = r.minors(); err != nil {
		t.Fatal(err)
	}
	addCases(t, s, r, recorded, inputs)
	for name, data := range encodeSuite(s) {
		if *update {
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, data) {
			t.Errorf("%s differs from the generated data: run go test -run TestSuite -update with %s, and read the diff", name, oraclesVariable)
		}
	}
	t.Logf("%d cases of %d CRDs, %d tried on the server", len(s.Cases), len(s.CRDs), len(r.served))
}

// addCases leaves out generated inputs without a unique response.
func addCases(t *testing.T, s *suite.Suite, r *suiteRecorder, recorded *suite.Suite, inputs []*suiteInput) {
	t.Helper()
	previous := map[string]*suite.Case{}
	if recorded != nil {
		for i := range recorded.Cases {
			previous[recorded.Cases[i].ID] = &recorded.Cases[i]
		}
	}
	left := 0
	for _, in := range inputs {
		answers, err := map[string]*suite.Response(nil), error(nil)
		if r.oracles != nil {
			answers, err = r.answers(in)
		} else {
			answers, err = r.replayed(in, previous[in.id])
		}
		if err == nil && len(answers) == 0 {
			err = errVaries
		}
		if errors.Is(err, errVaries) && in.group == generatedGroup {
			left++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", in.id, err)
			continue
		}
		c, err := suiteCase(in, answers)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.CRDs); n == 0 || s.CRDs[n-1].ID != in.crdID {
			crd, err := in.withoutStatus()
			if err != nil {
				t.Fatal(err)
			}
			s.CRDs = append(s.CRDs, suite.CRD{ID: in.crdID, CRD: crd})
		}
		s.Cases = append(s.Cases, *c)
	}
	t.Logf("%d generated writes are left out", left)
}

func (r *suiteRecorder) replayed(in *suiteInput, c *suite.Case) (map[string]*suite.Response, error) {
	if c == nil {
		return nil, errVaries
	}
	out := map[string]*suite.Response{}
	for i := range c.Answers {
		for _, minor := range c.Answers[i].Minors {
			out[minor] = &c.Answers[i].Response
		}
	}
	if served := r.served[in.id]; served != nil {
		if known := out[r.newest]; known != nil {
			served.Cost = known.Cost
		}
		out[r.newest] = served
	}
	return out, nil
}

// sampleInputs leaves out CRDs that other tests try on the server, and most generated ones.
func sampleInputs(inputs []*suiteInput) (some []*suiteInput) {
	for _, in := range inputs {
		switch {
		case strings.Contains(in.crdID, "/case-"): // TestCases tries it
		case in.group == generatedGroup && !strings.HasSuffix(in.crdID, "0"):
		default:
			some = append(some, in)
		}
	}
	return some
}

func startOracles(t *testing.T) map[string]*suiteOracle {
	t.Helper()
	folder := os.Getenv(oraclesVariable)
	if folder == "" {
		return nil
	}
	all := map[string]*suiteOracle{}
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		name := types.Version{Minor: minor}.String()
		o, err := libraries.StartOracle(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = o.Close() })
		all[name] = &suiteOracle{o, map[string]bool{}}
	}
	return all
}

func (r *suiteRecorder) minors() (all []suite.Minor, err error) {
	for _, name := range slices.SortedFunc(maps.Keys(r.oracles), compareMinors) {
		release, err := r.oracles[name].Release()
		if err != nil {
			return nil, err
		}
		source := "library"
		if name == r.newest {
			source = "server"
		}
		all = append(all, suite.Minor{Minor: name, Source: source, Release: release})
	}
	return all, nil
}

func compareMinors(a, b string) int {
	v, _ := types.ParseVersion(a)
	w, _ := types.ParseVersion(b)
	return v.Minor - w.Minor
}

func TestSuiteIsBalanced(t *testing.T) {
	t.Parallel()
	const atLeast, maxBytes = 4, 6 << 20
	s, err := suite.Default()
	if err != nil {
		t.Fatal(err)
	}
	newest := s.Minors[len(s.Minors)-1].Minor
	accepted, rejected := map[string]int{}, map[string]int{}
	for i := range s.Cases {
		switch e := s.Cases[i].Expected(newest); {
		case e == nil:
		case e.Allowed:
			accepted[s.Cases[i].Group]++
		default:
			rejected[s.Cases[i].Group]++
		}
	}
	for _, g := range s.Groups {
		t.Logf("%s: %d accepted, %d rejected", g.Name, accepted[g.Name], rejected[g.Name])
		if accepted[g.Name] < atLeast || rejected[g.Name] < atLeast {
			t.Errorf("%s: want at least %d accepted and %d rejected", g.Name, atLeast, atLeast)
		}
	}
	size := 0
	for _, data := range encodeSuite(s) {
		size += len(data)
	}
	if size > maxBytes {
		t.Errorf("%d bytes, want at most %d", size, maxBytes)
	}
}

func TestSuiteOnMinors(t *testing.T) {
	folder := os.Getenv(serversVariable)
	if folder == "" {
		t.Skip("no " + serversVariable)
	}
	programs, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	s, err := suite.Default()
	if err != nil {
		t.Fatal(err)
	}
	_, inputs, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	if !level.Long() {
		inputs = sampleInputs(inputs)
	}
	for _, program := range programs {
		t.Run(program.Name(), func(t *testing.T) { compareWithMinor(t, s, inputs, folder, program.Name()) })
	}
}

func compareWithMinor(t *testing.T, s *suite.Suite, inputs []*suiteInput, folder, minor string) {
	t.Helper()
	want := map[string]suite.Response{}
	for i := range s.Cases {
		if e := s.Cases[i].Expected(minor); e != nil {
			want[s.Cases[i].ID] = e.Response
		}
	}
	inputs = slices.DeleteFunc(slices.Clone(inputs), func(in *suiteInput) bool { _, ok := want[in.id]; return !ok })
	server, err := StartMinor(folder, minor)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	r := &suiteRecorder{}
	if err := r.serveInputs(t.Context(), server, inputs); err != nil {
		t.Fatal(err)
	}
	for id, served := range r.served {
		expected := want[id]
		expected.Cost = nil // a server does not return it
		if a, b := encoded(expected), encoded(served); !bytes.Equal(a, b) {
			t.Errorf("%s: library %s, server %s", id, a, b)
		}
	}
	t.Logf("%d answers", len(r.served))
}
