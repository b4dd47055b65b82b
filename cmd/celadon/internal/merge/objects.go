package merge

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"math"

	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// maxHeld is how much the next lines of all open reports may hold together.
const maxHeld = 64 << 20

// broken is an error of a report, and not of writing the new one.
func broken(file string, err error) error {
	return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("%s: %w", file, err)}
}

// crds gives the CRDs of each source: its shards have the same.
func (p *plan) crds(take func(*finding.CRD) error) error {
	for _, s := range p.sources {
		first := s.parts()[0]
		err := each(first.file, func(l *finding.PartLine) error {
			if l.CRD == nil {
				return io.EOF
			}
			l.CRD.Source = s.name
			return take(l.CRD)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each reads the lines of a report behind its first one, until one gives io.EOF.
func each(file string, take func(*finding.PartLine) error) error {
	r, err := reopen(file)
	if err != nil {
		return err
	}
	defer r.close()
	for {
		text, err := r.next()
		if err != nil {
			return broken(file, err)
		}
		l, err := r.decode(text)
		if err != nil {
			return broken(file, err)
		}
		if err := take(l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// reopen opens a report that was read before, behind its first line.
func reopen(file string) (*reader, error) {
	r, err := open(file)
	if err == nil {
		if _, _, err = r.begin(); err != nil {
			r.close()
		}
	}
	if err != nil {
		return nil, broken(file, err)
	}
	return r, nil
}

// ahead is the next object of a report as it stands there, or its end.
type ahead struct {
	*reader
	name string
	text []byte
	at   int64 // of the object; the end is behind all
}

const atEnd = math.MaxInt64

// heads are the next objects, those first that came first in the input.
type heads []*ahead

func (h heads) Len() int           { return len(h) }
func (h heads) Less(i, j int) bool { return h[i].at < h[j].at }
func (h heads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)        { *h = append(*h, x.(*ahead)) }
func (h *heads) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// objects gives the objects of one source after the other, and the end of each
// report.
func (p *plan) objects(take func(*finding.Object) error, end func(string, *finding.PartLine) error) error {
	for _, s := range p.sources {
		if err := s.objects(take, end); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) objects(take func(*finding.Object) error, end func(string, *finding.PartLine) error) (err error) {
	var open heads
	defer func() {
		for _, a := range open {
			a.close()
		}
	}()
	live, held := false, 0
	for _, one := range s.parts() {
		r, err := reopen(one.file)
		if err != nil {
			return err
		}
		a := &ahead{reader: r, name: one.file}
		open = append(open, a)
		if err := a.forward(&held); err != nil {
			return err
		}
		live = one.head.Live
	}
	heap.Init(&open)
	for last := int64(-1); len(open) > 0; heap.Fix(&open, 0) {
		a := open[0]
		if a.at == last && a.at != atEnd && !live {
			return broken(a.name, fmt.Errorf("line %d: document %d is in another shard too", a.line, a.at))
		}
		last = a.at
		l, err := a.decode(a.text)
		if err != nil {
			return broken(a.name, err)
		}
		if l.End != nil {
			if err := end(s.name, l); err != nil {
				return err
			}
			a.close()
			if heap.Pop(&open); len(open) == 0 {
				return nil
			}
			continue
		}
		if !live || !s.toldBefore(l.Object) {
			l.Object.Source = s.name
			if err := take(l.Object); err != nil {
				return err
			}
		}
		if err := a.forward(&held); err != nil {
			return err
		}
	}
	return nil
}

// there is true of a field that is there, whatever it holds.
type there bool

func (t *there) UnmarshalJSON([]byte) error {
	*t = true
	return nil
}

// forward goes to the next object, or to the end. It decodes no more of it than its
// place: of a text, what it decodes to may be many times as much.
func (a *ahead) forward(held *int) error {
	*held -= len(a.text)
	a.text = nil
	for {
		text, err := a.next()
		if err != nil {
			return broken(a.name, err)
		}
		var l struct {
			CRD  there `json:"crd"`
			End  there `json:"end"`
			Part struct {
				At int64 `json:"at"`
			} `json:"part"`
		}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &l); err != nil {
			return broken(a.name, fmt.Errorf("line %d: %s", a.line, preview.Bytes(err.Error(), maxError)))
		}
		if l.CRD {
			if _, err := a.decode(text); err != nil {
				return broken(a.name, err)
			}
			continue
		}
		if a.text, a.at = text, l.Part.At; l.End {
			a.at = atEnd
		}
		if *held += len(text); *held > maxHeld {
			return broken(a.name, fmt.Errorf("line %d: with the next lines of the other shards more than %d MiB: want less", a.line, maxHeld>>20))
		}
		return nil
	}
}

// toldBefore is true of what of a cluster could not be read in another shard either:
// each tells of it.
func (s *source) toldBefore(o *finding.Object) bool {
	if o.Verdict != finding.Unreadable {
		return false
	}
	told := o.File + "\x00" + o.Problem
	if s.unread[told] {
		return true
	}
	if s.bytes += len(told); s.bytes > maxUnread {
		return false
	}
	if s.unread == nil {
		s.unread = map[string]bool{}
	}
	s.unread[told] = true
	return false
}

// maxUnread is how many bytes of what cannot be read are kept to tell it once.
const maxUnread = 4 << 20
