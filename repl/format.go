package repl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/kubecel"
)

// A Value is the value of an expression.
type Value struct{ val ref.Val }

// String returns the value in CEL syntax. Strings are quoted, and maps are sorted by key.
func (v *Value) String() string { return format(v.val) }

// JSON returns the value in the form of decoded JSON, as an object would contain it: durations and
// timestamps become strings, bytes become base64, and an optional becomes its value or nil. Values
// that JSON cannot represent become strings.
func (v *Value) JSON() any { return expr.Native(v.val) }

// False reports whether the value is the boolean false.
func (v *Value) False() bool { return v.val == celtypes.False }

func format(v ref.Val) string {
	switch v := v.(type) {
	case celtypes.String:
		return strconv.Quote(string(v))
	case celtypes.Bytes:
		return "b" + strconv.Quote(string(v))
	case celtypes.Null:
		return "null"
	case celtypes.Uint:
		return fmt.Sprintf("%du", uint64(v))
	case celtypes.Double:
		return formatDouble(float64(v))
	case celtypes.Duration:
		return fmt.Sprintf("duration(%q)", v.Duration)
	case celtypes.Timestamp:
		return fmt.Sprintf("timestamp(%q)", v.Time.Format("2006-01-02T15:04:05.999999999Z07:00"))
	case *celtypes.Optional:
		if !v.HasValue() {
			return "optional.none()"
		}
		return "optional.of(" + format(v.GetValue()) + ")"
	case kubecel.Format:
		return fmt.Sprintf("format.named(%q)", v.Name)
	case traits.Mapper:
		return formatMap(v)
	case traits.Lister:
		return formatList(v)
	case *celtypes.Type:
		return v.TypeName()
	}
	return fmt.Sprint(v.Value())
}

// formatDouble formats f with a decimal point or an exponent, to distinguish it from an int.
func formatDouble(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.ContainsAny(s, ".eIN") {
		return s
	}
	return s + ".0"
}

func formatMap(m traits.Mapper) string {
	var entries []string
	for _, key := range celvalue.Keys(m) {
		entries = append(entries, format(key)+": "+format(expr.Entry(m, key)))
	}
	slices.Sort(entries)
	return "{" + strings.Join(entries, ", ") + "}"
}

func formatList(l traits.Lister) string {
	var items []string
	for it := l.Iterator(); it.HasNext() == celtypes.True; {
		items = append(items, format(it.Next()))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// formatJSON formats a decoded JSON value on one line.
func formatJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
