package eval

import (
	"math"
	"strings"

	"github.com/google/cel-go/common"
	celtypes "github.com/google/cel-go/common/types"
)

// How it works: self.split('/')[0] and .split(',').size() are how rules read
// what has no schema of its own. The list is only made where it is asked for as
// a list; its price is that of making it, either way.

// split is split() by a constant separator. Mostly one part is asked for: then
// no list is made.
type split struct {
	text      strFunc
	separator string
	n         int64 // at most so many parts; < 0: any number
	// limited calls have n as an argument: CEL prices them only where there is
	// a text.
	limited bool
}

// newSplit is nil for calls that are left to the library.
func newSplit(inv *invocation) *split {
	s := &split{n: -1}
	switch inv.overload {
	case "string_split_string":
	case "string_split_string_int":
		n, ok := inv.args[2].konst.(celtypes.Int)
		if !ok || n == 0 || n > math.MaxInt32 {
			return nil
		}
		s.n, s.limited = int64(n), true
	default:
		return nil
	}
	separator, ok := inv.args[1].konst.(celtypes.String)
	s.text, s.separator = inv.args[0].strings(), string(separator)
	if !ok || separator == "" || s.text == nil {
		return nil
	}
	return s
}

// read evaluates the text and charges for splitting it.
func (s *split) read(f *frame) (string, bool) {
	text, ok := s.text(f)
	switch {
	case ok:
		f.charge(splitCost(f.runes(text)))
		f.work(len(text))
	case !s.limited:
		f.charge(splitCost(1))
	}
	return text, ok
}

func splitCost(size uint64) uint64 {
	return uint64(math.Ceil(float64(size) * 2 * common.StringTraversalCostFactor))
}

// list is all parts.
func (s *split) list(f *frame) ([]any, bool) {
	text, ok := s.read(f)
	if !ok {
		return nil, false
	}
	f.make(2 * perItem * float64(strings.Count(text, s.separator)+1))
	base := len(f.lists)
	for part, rest, more := "", text, true; more; {
		part, rest, more = s.next(rest, len(f.lists)-base)
		f.lists = append(f.lists, part)
	}
	return f.lists[base:len(f.lists):len(f.lists)], true
}

// size is how many parts there are.
func (s *split) size(f *frame) (int64, bool) {
	text, ok := s.read(f)
	f.charge(1)
	n := int64(strings.Count(text, s.separator)) + 1
	if s.n > 0 {
		n = min(n, s.n)
	}
	return n, ok
}

// next cuts off the part of an index; the last one allowed is all the rest.
func (s *split) next(text string, i int) (part, rest string, more bool) {
	if s.n > 0 && int64(i) == s.n-1 {
		return text, "", false
	}
	return strings.Cut(text, s.separator)
}

// part is the part of a constant index, in which step is the cost of the
// attribute that this is.
func (s *split) part(index pathStep, step uint64) strFunc {
	return func(f *frame) (string, bool) {
		text, ok := s.read(f)
		if ok {
			f.charge(1)
			if text, ok = s.nth(text, index.at); !ok {
				f.err = index.missing
			}
		}
		f.charge(step)
		return text, ok
	}
}

func (s *split) nth(text string, at int64) (string, bool) {
	if at < 0 {
		return "", false
	}
	part, rest, more := "", text, true
	for i := 0; more; i++ {
		if part, rest, more = s.next(rest, i); int64(i) == at {
			return part, true
		}
	}
	return "", false
}
