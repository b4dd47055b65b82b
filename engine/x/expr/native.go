package expr

import (
	"encoding/base64"
	"fmt"
	"math"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/internal/kubecel"
)

// Native converts a value to the form of decoded JSON, as an object would contain it: durations and
// timestamps become strings, bytes become base64, and an optional becomes its value or nil. Values
// that JSON cannot represent become strings.
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
	case kubecel.Format:
		return v.Name
	case traits.Mapper:
		out := map[string]any{}
		for _, key := range celvalue.Keys(v) {
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
	value := v.Value()
	if _, opaque := value.(error); opaque { // such as a decision of the authorizer
		return v.Type().TypeName()
	}
	return fmt.Sprint(value)
}

// Entry returns the value of a key in m. It returns null if m.Get returns an error, for example for
// a nullable field that is null, which rules cannot read.
func Entry(m traits.Mapper, key ref.Val) ref.Val {
	v := m.Get(key)
	if celtypes.IsError(v) {
		return celtypes.NullValue
	}
	return v
}
