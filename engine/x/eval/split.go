package eval

import (
	"math"
	"strings"

	"github.com/google/cel-go/common"
	celtypes "github.com/google/cel-go/common/types"
)

// How it works: rules use self.split('/')[0] and self.split(',').size() to read strings that have
// no schema of their own. The list is only made if the rule uses it as a list; the cost is the same
// in both cases.

// split is a call of split() with a constant separator.
type split struct {
	text      strFunc
	separator string
	n         int64 // maximum number of parts; negative means no limit
	// limited is set if the call has n as an argument. CEL then charges the call only if text is
	// not an error.
	limited bool
}

// newSplit returns nil for calls that the library must handle.
func newSplit(inv *invocation) *split {
	s := &split{n: -1}
	switch inv.overload {
	case "string_split_string":
	case "string_split_string_int":
		n, ok := inv.args[2].constant.(celtypes.Int)
		if !ok || n == 0 || n > math.MaxInt32 {
			return nil
		}
		s.n, s.limited = int64(n), true
	default:
		return nil
	}
	separator, ok := inv.args[1].constant.(celtypes.String)
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
		f.chargeCall(splitCost(1), ok)
	}
	return text, ok
}

func splitCost(size uint64) uint64 {
	return uint64(math.Ceil(float64(size) * 2 * common.StringTraversalCostFactor))
}

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

func (s *split) size(f *frame) (int64, bool) {
	text, ok := s.read(f)
	f.chargeCall(1, ok)
	n := int64(strings.Count(text, s.separator)) + 1
	if s.n > 0 {
		n = min(n, s.n)
	}
	return n, ok
}

// next cuts the part with index i off text. The last part allowed is all of text.
func (s *split) next(text string, i int) (part, rest string, more bool) {
	if s.n > 0 && int64(i) == s.n-1 {
		return text, "", false
	}
	return strings.Cut(text, s.separator)
}

// part returns the part with a constant index. step is the cost of the attribute as a whole.
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
