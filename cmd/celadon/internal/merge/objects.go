package merge

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
)

// broken returns an error about an input report, as opposed to an error writing the new report.
func broken(file string, err error) error {
	return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("%s: %w", file, err)}
}

// crds calls take with the CRDs of each source.
func (p *plan) crds(take func(*finding.CRD) error) error {
	for _, s := range p.sources {
		if err := s.crds(take); err != nil {
			return err
		}
	}
	return nil
}

// crds calls take with the CRDs of the source. All shards have the same.
func (s *source) crds(take func(*finding.CRD) error) error {
	r, err := reopen(s.parts()[0].file)
	if err != nil {
		return err
	}
	defer r.close()
	for {
		l, err := r.again()
		if err != nil || l.CRD == nil {
			return err
		}
		l.CRD.Source = s.name
		if err := take(l.CRD); err != nil {
			return err
		}
	}
}

// again reads the next line of a report that has been inspected.
func (r *reader) again() (l *finding.PartLine, err error) {
	text, err := r.next()
	if err == nil {
		l, err = r.decode(text)
	}
	if err != nil {
		return nil, broken(r.file.Name(), err)
	}
	return l, nil
}

// reopen opens a report again and reads its first line.
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

// openReport is an open report with its next object or its last line.
type openReport struct {
	*reader
	next *finding.PartLine
}

// at returns the position of the next object in the input. The end of a report sorts after all objects.
func (a *openReport) at() int64 {
	if a.next.End != nil {
		return atEnd
	}
	return a.next.Object.At
}

const atEnd = math.MaxInt64

func byPosition(a, b *openReport) int { return cmp.Compare(a.at(), b.at()) }

// objects calls take with the objects of each source in turn, and end at the end of each report.
func (p *plan) objects(take func(*finding.Object) error, end func(string, *finding.PartLine)) error {
	for _, s := range p.sources {
		if err := s.objects(take, end); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) objects(take func(*finding.Object) error, end func(string, *finding.PartLine)) (err error) {
	var open []*openReport // by the positions of their next objects
	defer func() {
		for _, a := range open {
			a.close()
		}
	}()
	live := false
	for _, one := range s.parts() {
		r, err := reopen(one.file)
		if err != nil {
			return err
		}
		a := &openReport{reader: r}
		open = append(open, a)
		if err := a.forward(); err != nil {
			return err
		}
		live = one.head.Live
	}
	slices.SortStableFunc(open, byPosition)
	for last := int64(-1); len(open) > 0; {
		a := open[0]
		if a.at() == last && a.at() != atEnd && !live {
			return broken(a.file.Name(), fmt.Errorf("line %d: document %d is in another shard too", a.line, last))
		}
		l := a.next
		if last = a.at(); l.End != nil {
			end(s.name, l)
			a.close()
			open = open[1:]
			continue
		}
		if !live || !s.reportedBefore(l.Object) {
			l.Object.Source = s.name
			if err := take(l.Object); err != nil {
				return err
			}
		}
		if err := a.forward(); err != nil {
			return err
		}
		i, _ := slices.BinarySearchFunc(open[1:], a, byPosition)
		copy(open, open[1:i+1])
		open[i] = a
	}
	return nil
}

// forward reads the next object or the last line.
func (a *openReport) forward() (err error) {
	for a.next, err = a.again(); err == nil && a.next.CRD != nil; {
		a.next, err = a.again()
	}
	return err
}

// reportedBefore reports whether another shard has already reported the same unreadable resource of a
// cluster. Each shard reports it.
func (s *source) reportedBefore(o *finding.Object) bool {
	if o.Verdict != finding.Unreadable {
		return false
	}
	key := o.File + "\x00" + o.Problem
	if s.unread[key] {
		return true
	}
	if s.unread == nil {
		s.unread = map[string]bool{}
	}
	s.unread[key] = true
	return false
}
