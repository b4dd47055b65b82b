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

// Verdicts holds the verdicts of all versions. A version without an entry has the verdict of the
// next older version.
type Verdicts map[string]Verdict

// set adds the verdict of a version. Versions must be added in order.
func (all Verdicts) set(v types.Version, verdict Verdict) {
	if !reflect.DeepEqual(all.of(v), verdict) {
		all[v.String()] = verdict
	}
}

// of returns the verdict of a version.
func (all Verdicts) of(v types.Version) Verdict {
	for minor := v.Minor; minor >= types.Oldest; minor-- {
		if verdict, ok := all[types.Version{Minor: minor}.String()]; ok {
			return verdict
		}
	}
	return nil
}

// ReadRecordings reads a file of recordings.
func ReadRecordings(path string) (all []*Recording, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(unzipped); ; {
		r := &Recording{}
		if err := decoder.Decode(r); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if err := r.setCRDs(); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
}

// setCRDs sets the CRDs of the writes, which are not in the file.
func (r *Recording) setCRDs() error {
	for _, w := range r.Writes {
		if err := w.setCRD(r.CRD); err != nil {
			return err
		}
	}
	return nil
}

// WriteRecordings writes a file of recordings.
func WriteRecordings(path string, all []*Recording) error {
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
	for _, r := range all {
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	return errors.Join(zipped.Close(), f.Close())
}

// stableShuffles is the number of repetitions of a write that is recorded. Writes whose verdict
// depends on the order of a Go map are not recorded.
const stableShuffles = 12

// record returns a case with the verdicts of programs for all versions, oldest first.
func record(c *Case, oracles []*Oracle) (*Recording, error) {
	r := &Recording{Case: *c, Verdicts: Verdicts{}}
	for i, o := range oracles {
		verdict, err := o.CRD(c.CRD)
		if err != nil {
			return nil, err
		}
		r.Verdicts.set(types.Version{Minor: types.Oldest + i}, verdict)
	}
	for _, w := range c.Writes {
		verdicts, err := recordWrite(w, oracles)
		if err != nil {
			return nil, err
		}
		if verdicts != nil {
			r.Writes = append(r.Writes, RecordedWrite{w, verdicts})
		}
	}
	return r, nil
}

// recordWrite returns the verdicts on a write, or nil if they are not always the same.
func recordWrite(w *Write, oracles []*Oracle) (Verdicts, error) {
	all := Verdicts{}
	for i, o := range oracles {
		verdict, err := o.Write(w)
		if err != nil {
			return nil, err
		}
		varies := false
		if _, err := o.Shuffled(w, stableShuffles, func(more []Verdict) bool {
			varies = !reflect.DeepEqual(more[len(more)-1], verdict)
			return varies
		}); err != nil || varies {
			return nil, err
		}
		all.set(types.Version{Minor: types.Oldest + i}, verdict)
	}
	return all, nil
}
