package eval

import (
	"fmt"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/celvalue"
)

// How it works: a ref.Val can share parts. Ten nested lists, each holding the previous one twice,
// need little memory but have a thousand items when they are compared or printed. A sizer traverses
// a value as such a call would, and stops at the work limit.

// addSizeWork adds per units of work for each byte of v's estimated size when written out, and returns that size.
// Shared parts count each time they occur.
func (f *frame) addSizeWork(v ref.Val, per float64) float64 {
	w := sizer{frame: f, per: per}
	w.value(v)
	return w.bytes
}

// SizeAtMost reports whether v fits into the given number of bytes, as estimated by TextSize.
func SizeAtMost(v ref.Val, bytes int) bool {
	_, fits := TextSize(v, bytes)
	return fits
}

// TextSize estimates how many bytes v takes when written out. Shared parts count each time they occur. If v is larger
// than limit or nested too deeply, it returns limit and false.
func TextSize(v ref.Val, limit int) (bytes int, fits bool) {
	f := &frame{act: &Activation{work: uint64(max(limit, 1))}}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *OverworkError:
			bytes, fits = limit, false
		default:
			panic(p)
		}
	}()
	return int(f.addSizeWork(v, 1)), true
}

// A sizer stops as soon as the work of the following call would be too much.
type sizer struct {
	*frame
	per, bytes float64
	depth      int
}

// maxNesting limits the depth of values, because all calls that traverse a value are recursive. The
// API server decodes at most 10,000 levels, to which literals can add some.
const maxNesting = 20_000

func (w *sizer) enter() {
	if w.depth++; w.depth > maxNesting {
		w.overwork(fmt.Sprintf("a value has over %d levels", maxNesting))
	}
}

func (w *sizer) leave() { w.depth-- }

// perNode is the size of each node in addition to its text.
const perNode = 16

func (w *sizer) add(bytes int) {
	w.bytes += float64(bytes)
	w.workUnits(float64(bytes) * w.per)
}

func (w *sizer) value(v ref.Val) {
	if raw, ok := celvalue.Raw(v); ok {
		w.raw(raw)
		return
	}
	w.enter()
	switch v := v.(type) {
	case celtypes.String:
		w.add(perNode + len(v))
	case celtypes.Bytes:
		w.add(perNode + len(v))
	case *celtypes.Err:
		w.add(perNode)
	case *celtypes.Optional:
		w.add(perNode)
		if v.HasValue() {
			w.value(v.GetValue())
		}
	case traits.Mapper:
		w.add(perNode)
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			key := it.Next()
			w.value(key)
			if item, ok := v.Find(key); ok {
				w.value(item)
			}
		}
	case traits.Lister:
		w.add(perNode)
		size, _ := v.Size().(celtypes.Int)
		for i := range size {
			w.value(v.Get(i))
		}
	default:
		w.add(perNode + opaqueBytes(v))
		for _, part := range celenv.Parts(v) {
			w.value(part)
		}
	}
	w.leave()
}

func (w *sizer) raw(v any) {
	w.enter()
	switch v := v.(type) {
	case string:
		w.add(perNode + len(v))
	case []any:
		w.add(perNode)
		for _, item := range v {
			w.raw(item)
		}
	case map[string]any:
		w.add(perNode)
		for key, item := range v {
			w.add(perNode + len(key))
			w.raw(item)
		}
	default:
		w.add(perNode)
	}
	w.leave()
}
