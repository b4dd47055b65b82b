package expr

import (
	"encoding/base64"
	"fmt"
	"math"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/celadon-cel/celadon/types"
)

// Native is a value in the form of decoded JSON, as an object would hold it:
// durations and times are text, bytes base64. An optional is its value, or nil.
// What JSON does not know is text.
func Native(v ref.Val) any {
	switch v := v.(type) {
	case celtypes.Null:
		return nil
	case celtypes.Double:
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	case celtypes.Bool, celtypes.String, celtypes.Int, celtypes.Uint:
		return v.Value()
	case celtypes.Bytes:
		return base64.StdEncoding.EncodeToString(v)
	case *celtypes.Optional:
		if !v.HasValue() {
			return nil
		}
		return Native(v.GetValue())
	case *celtypes.Type:
		return v.TypeName()
	case apiservercel.Format:
		return v.Name
	case traits.Mapper:
		out := map[string]any{}
		for _, key := range types.Keys(v) {
			out[fmt.Sprint(key.Value())] = Native(Entry(v, key))
		}
		return out
	case traits.Lister:
		out := []any{}
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			out = append(out, Native(it.Next()))
		}
		return out
	}
	if text, ok := v.ConvertToType(celtypes.StringType).(celtypes.String); ok {
		return string(text)
	}
	return fmt.Sprint(v.Value())
}

// Entry is the value of a key that a map has. A nullable field that is null is
// there in the object and not for rules, to which reading it is an error: it is
// shown as what it is.
func Entry(m traits.Mapper, key ref.Val) ref.Val {
	v := m.Get(key)
	if celtypes.IsError(v) {
		return celtypes.NullValue
	}
	return v
}
