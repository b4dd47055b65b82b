package compare

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"

	"github.com/celadon-cel/celadon/types"
)

// Recordings are cases with the verdicts of some versions, oldest first.
type Recordings struct {
	Versions []types.Version
	Cases    []*Recording
}

// A Recording is a case with the libraries' verdicts.
type Recording struct {
	Case
	Verdicts Verdicts        `json:"verdicts"`
	Writes   []RecordedWrite `json:"writes"`
}

// A RecordedWrite is a write with the libraries' verdicts.
type RecordedWrite struct {
	*Write
	Verdicts Verdicts `json:"verdicts"`
}

// Verdicts holds the verdicts of all recorded versions. A version without an entry has the verdict of
// the next older version.
type Verdicts map[string]Verdict

// Versions must be added in order.
func (all Verdicts) set(v types.Version, verdict Verdict) {
	if !reflect.DeepEqual(all.of(v), verdict) {
		all[v.String()] = verdict
	}
}

func (all Verdicts) of(v types.Version) Verdict {
	for minor := v.Minor; minor >= types.Oldest; minor-- {
		if verdict, ok := all[types.Version{Minor: minor}.String()]; ok {
			return verdict
		}
	}
	return nil
}

// ReadRecordings reads a gzip file with the versions, followed by the cases.
func ReadRecordings(path string) (*Recordings, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	all, decoder := &Recordings{}, json.NewDecoder(unzipped)
	if err := decoder.Decode(&all.Versions); err != nil {
		return nil, err
	}
	for {
		r := &Recording{}
		if err := decoder.Decode(r); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if err := r.setCRDs(); err != nil {
			return nil, err
		}
		all.Cases = append(all.Cases, r)
	}
}

func (r *Recording) setCRDs() error {
	for _, w := range r.Writes {
		if err := w.setCRD(r.CRD); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a file of recordings.
func (all *Recordings) Write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	zipped, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(zipped)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(all.Versions); err != nil {
		return err
	}
	for _, r := range all.Cases {
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	return errors.Join(zipped.Close(), f.Close())
}

// stableShuffles is the number of repetitions of a write that is recorded. Writes whose verdict
// depends on the order of a Go map are not recorded.
const stableShuffles = 12

type recorder struct {
	versions []types.Version
	oracles  []*Oracle
}

func newRecording(c *Case) *Recording {
	r := &Recording{Case: *c, Verdicts: Verdicts{}}
	for _, w := range c.Writes {
		r.Writes = append(r.Writes, RecordedWrite{w, Verdicts{}})
	}
	return r
}

// record removes writes whose verdict is not always the same.
func (p *recorder) record(r *Recording) error {
	for i, o := range p.oracles {
		verdict, err := o.CRD(r.CRD)
		if err != nil {
			return err
		}
		r.Verdicts.set(p.versions[i], verdict)
	}
	var stable []RecordedWrite
	for _, w := range r.Writes {
		ok, err := p.recordWrite(&w)
		if err != nil {
			return err
		}
		if ok {
			stable = append(stable, w)
		}
	}
	r.Writes = stable
	return nil
}

func (p *recorder) recordWrite(w *RecordedWrite) (stable bool, err error) {
	for i, o := range p.oracles {
		verdict, err := o.Write(w.Write)
		if err != nil {
			return false, err
		}
		varies := false
		if _, err := o.Shuffled(w.Write, stableShuffles, func(more []Verdict) bool {
			varies = !reflect.DeepEqual(more[len(more)-1], verdict)
			return varies
		}); err != nil || varies {
			return false, err
		}
		w.Verdicts.set(p.versions[i], verdict)
	}
	return true, nil
}
