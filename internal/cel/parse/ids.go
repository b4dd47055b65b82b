package parse

import (
	"maps"

	"github.com/google/cel-go/common/ast"
)

// noRange is that of an id that was given back.
var noRange = ast.OffsetRange{Start: -1 << 31, Stop: -1 << 31}

func (s *state) newID(r ast.OffsetRange) int64 {
	s.ranges = append(s.ranges, r)
	return int64(len(s.ranges))
}

// id is a new one, at a token.
func (s *state) id(t token) int64 { return s.newID(rangeOf(t)) }

// rangeOf begins at a code point and is as long as the token has bytes, as
// cel-go's do.
func rangeOf(t token) ast.OffsetRange {
	return ast.OffsetRange{Start: t.at, Stop: t.at + t.End - t.Start}
}

// rangeAt is the position of an id, if it has one.
func (s *state) rangeAt(id int64) (ast.OffsetRange, bool) {
	if id < 1 || id > int64(len(s.ranges)) || s.ranges[id-1] == noRange {
		return ast.OffsetRange{}, false
	}
	return s.ranges[id-1], true
}

// dropID gives an id back; the last one is given again.
func (s *state) dropID(id int64) {
	if s.ranges[id-1] = noRange; id == int64(len(s.ranges)) {
		s.ranges = s.ranges[:id-1]
	}
}

// finish is the positions of all ids, with what macros replaced.
func (s *state) finish() *ast.SourceInfo {
	info := ast.NewSourceInfo(s.src)
	ranges := info.OffsetRanges()
	for i, r := range s.ranges {
		if r != noRange {
			ranges[int64(i+1)] = r
		}
	}
	maps.Copy(info.MacroCalls(), s.calls)
	return info
}
