package parse

import (
	"maps"

	"github.com/google/cel-go/common/ast"
)

// noRange marks an ID that was released.
var noRange = ast.OffsetRange{Start: -1 << 31, Stop: -1 << 31}

func (s *state) newID(r ast.OffsetRange) int64 {
	s.ranges = append(s.ranges, r)
	return int64(len(s.ranges))
}

// id allocates an ID at the position of t.
func (s *state) id(t token) int64 { return s.newID(rangeOf(t)) }

// rangeOf returns the position of t. As in cel-go, the start counts code points and the length
// counts bytes.
func rangeOf(t token) ast.OffsetRange {
	return ast.OffsetRange{Start: t.at, Stop: t.at + t.End - t.Start}
}

// rangeAt returns the position of id. ok is false if id has no position.
func (s *state) rangeAt(id int64) (ast.OffsetRange, bool) {
	if id < 1 || id > int64(len(s.ranges)) || s.ranges[id-1] == noRange {
		return ast.OffsetRange{}, false
	}
	return s.ranges[id-1], true
}

// dropID releases an ID. The last ID is allocated again.
func (s *state) dropID(id int64) {
	if s.ranges[id-1] = noRange; id == int64(len(s.ranges)) {
		s.ranges = s.ranges[:id-1]
	}
}

// finish returns the positions of all IDs and the calls that macros replaced.
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
