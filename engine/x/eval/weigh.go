package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/types"
)

// How it works: a value of CEL's can share its parts: ten lists, each of the
// one before twice, are small in memory and have a thousand items when compared
// or written out. Weighing goes through a value as such a call would, and stops
// where it is too much.

// weigh adds per units for each byte that a value has, as if it were written
// out: what is shared is met as often as it stands there. It gives the bytes.
func (f *frame) weigh(v ref.Val, per float64) float64 {
	w := weighing{frame: f, per: per}
	w.value(v)
	return w.bytes
}

// Fits reports whether a value takes at most so many bytes to write out: a part that
// occurs several times counts each time.
func Fits(v ref.Val, bytes int) bool {
	_, fits := Weigh(v, bytes)
	return fits
}

// Weigh returns how many bytes a value takes to write out, and whether these are at
// most limit; of a larger value it looks at no more than limit bytes.
func Weigh(v ref.Val, limit int) (bytes int, fits bool) {
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
	return int(f.weigh(v, 1)), true
}

// weighing stops where the work of what follows is too much already.
type weighing struct {
	*frame
	per, bytes float64
}

// perNode stands for the size of what is no text.
const perNode = 16

func (w *weighing) add(bytes int) {
	w.bytes += float64(bytes)
	w.much(float64(bytes) * w.per)
}

func (w *weighing) value(v ref.Val) {
	if raw, ok := types.Raw(v); ok {
		w.raw(raw)
		return
	}
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
	}
}

func (w *weighing) raw(v any) {
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
}
