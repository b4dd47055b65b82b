package merge

import (
	"container/heap"
	"errors"
	"fmt"
	"io"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
)

// maxHeld is how much the next lines of all open reports may hold together.
const maxHeld = 64 << 20

// broken is an error of a report, and not of writing the new one.
func broken(file string, err error) error {
	return &cli.ExitError{Code: cli.Usage, Err: fmt.Errorf("%s: %w", file, err)}
}

// crds gives the CRDs of each source: its shards have the same.
func (p *plan) crds(take func(*report.CRD) error) error {
	for _, s := range p.sources {
		first := s.parts()[0]
		err := each(first.file, func(l *report.PartLine) error {
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
func each(file string, take func(*report.PartLine) error) error {
	r, err := reopen(file)
	if err != nil {
		return err
	}
	defer r.close()
	for {
		l, _, err := r.read()
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

// ahead is the next object of a report, or its end.
type ahead struct {
	*reader
	name  string
	line  *report.PartLine
	bytes int
}

// heads are the next objects, those first that came first in the input.
type heads []*ahead

func (h heads) Len() int           { return len(h) }
func (h heads) Less(i, j int) bool { return h[i].place() < h[j].place() }
func (h heads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)        { *h = append(*h, x.(*ahead)) }
func (h *heads) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

func (a *ahead) place() int64 {
	if a.line.Object == nil {
		return int64(1) << 62 // the end
	}
	return a.line.Object.At
}

// objects gives the objects of one source after the other, and the end of each
// report.
func (p *plan) objects(take func(*report.Object) error, end func(*report.PartLine) error) error {
	for _, s := range p.sources {
		if err := s.objects(take, end); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) objects(take func(*report.Object) error, end func(*report.PartLine) error) (err error) {
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
	for last := int64(-1); len(open) > 0; {
		a := open[0]
		if a.line.Object == nil {
			if err := end(a.line); err != nil {
				return err
			}
			a.close()
			heap.Pop(&open)
			continue
		}
		at := a.line.Object.At
		if at == last && !live {
			return broken(a.name, fmt.Errorf("line %d: document %d is in another shard too", a.reader.line, at))
		}
		last = at
		if !live || !s.toldBefore(a.line.Object) {
			a.line.Object.Source = s.name
			if err := take(a.line.Object); err != nil {
				return err
			}
		}
		if err := a.forward(&held); err != nil {
			return err
		}
		heap.Fix(&open, 0)
	}
	return nil
}

// toldBefore is true of what of a cluster could not be read in another shard either:
// each tells of it.
func (s *source) toldBefore(o *report.Object) bool {
	if o.Verdict != report.Unreadable || len(s.unread) >= maxMissing {
		return false
	}
	told := [2]string{o.File, o.Problem}
	if s.unread[told] {
		return true
	}
	if s.unread == nil {
		s.unread = map[[2]string]bool{}
	}
	s.unread[told] = true
	return false
}

// forward goes to the next object, or to the end.
func (a *ahead) forward(held *int) error {
	*held -= a.bytes
	a.line, a.bytes = nil, 0
	for {
		l, n, err := a.read()
		if err != nil {
			return broken(a.name, err)
		}
		if l.CRD != nil {
			continue
		}
		a.line, a.bytes = l, n
		if *held += n; *held > maxHeld {
			return broken(a.name, fmt.Errorf("line %d: with the next lines of the other shards more than %d MiB: want less", a.reader.line, maxHeld>>20))
		}
		return nil
	}
}
