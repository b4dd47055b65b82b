package parse_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/cel-go/common"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/testing/celexprs"
)

func TestSourceAsUpstream(t *testing.T) {
	t.Parallel()
	for _, text := range append([]string{"", "\n", "\n\n", "a\n", "a\nb", "é\n語\n😀", "a\r\nb", "\xff\n\xff"}, celexprs.Kinds()[:300]...) {
		got, want := parse.NewSource(text), common.NewTextSource(text)
		if got.Content() != want.Content() || got.Description() != want.Description() || !slices.Equal(got.LineOffsets(), want.LineOffsets()) {
			t.Errorf("%q: got %q, %v, want %q, %v", text, got.Content(), got.LineOffsets(), want.Content(), want.LineOffsets())
		}
		for i := -1; i < len(text)+3; i++ {
			gotLine, gotOK := got.Snippet(i)
			wantLine, wantOK := want.Snippet(i)
			if gotLine != wantLine || gotOK != wantOK {
				t.Errorf("%q: line %d: got %q (%v), want %q (%v)", text, i, gotLine, gotOK, wantLine, wantOK)
			}
			at, _ := got.OffsetLocation(int32(i))
			wantAt, _ := want.OffsetLocation(int32(i))
			if !reflect.DeepEqual(at, wantAt) {
				t.Errorf("%q: offset %d: got %v, want %v", text, i, at, wantAt)
			}
			where := common.NewLocation(i, 2)
			offset, ok := got.LocationOffset(where)
			wantOffset, wantOK := want.LocationOffset(where)
			if offset != wantOffset || ok != wantOK || !reflect.DeepEqual(got.NewLocation(i, 2), want.NewLocation(i, 2)) {
				t.Errorf("%q: line %d: got %d (%v), want %d (%v)", text, i, offset, ok, wantOffset, wantOK)
			}
		}
	}
}
