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

func (p *plan) crds(take func(*finding.CRD) error) error {
	for _, s := range p.sources {
		if err := s.crds(take); err != nil {
			return err
		}
	}
	return nil
}

// crds reads the report of the first shard, because all shards of a source have the same CRDs.
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

// position sorts the end of a report after all objects.
func (r *reader) position() int64 {
	if r.ahead.End != nil {
		return atEnd
	}
	return r.ahead.Object.At
}

const atEnd = math.MaxInt64

func byPosition(a, b *reader) int { return cmp.Compare(a.position(), b.position()) }

func (p *plan) objects(take func(*finding.Object) error, end func(string, *finding.PartLine)) error {
	for _, s := range p.sources {
		if err := s.objects(take, end); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) objects(take func(*finding.Object) error, end func(string, *finding.PartLine)) (err error) {
	var open []*reader // by the positions of their next objects
	defer func() {
		for _, r := range open {
			r.close()
		}
	}()
	live := false
	for _, one := range s.parts() {
		r, err := reopen(one.file)
		if err != nil {
			return err
		}
		open = append(open, r)
		if err := r.forward(); err != nil {
			return err
		}
		live = one.head.Live
	}
	slices.SortStableFunc(open, byPosition)
	for last := int64(-1); len(open) > 0; {
		r := open[0]
		if r.position() == last && last != atEnd && !live {
			return broken(r.file.Name(), fmt.Errorf("line %d: document %d is in another shard too", r.line, last))
		}
		l := r.ahead
		if last = r.position(); l.End != nil {
			end(s.name, l)
			r.close()
			open = open[1:]
			continue
		}
		if !live || !s.reportedBefore(l.Object) {
			l.Object.Source = s.name
			if err := take(l.Object); err != nil {
				return err
			}
		}
		if err := r.forward(); err != nil {
			return err
		}
		i, _ := slices.BinarySearchFunc(open[1:], r, byPosition)
		copy(open, open[1:i+1])
		open[i] = r
	}
	return nil
}

func (r *reader) forward() (err error) {
	for r.ahead, err = r.again(); err == nil && r.ahead.CRD != nil; {
		r.ahead, err = r.again()
	}
	return err
}

// reportedBefore is needed because each shard reports the unreadable resources of a cluster.
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
