package celvalue

import (
	"fmt"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/types"
)

// Raw returns the decoded JSON of an object, map, list, or unknown value returned by New, Untyped,
// or FromGo. It returns false for any other value.
func Raw(v ref.Val) (any, bool) {
	switch v.(type) {
	case *mapValue, *listValue, *setValue, *mapListValue, *untypedMap, *untypedList, *unknown:
		return v.Value(), true
	}
	return nil, false
}

// Parsed returns the string that is parsed on each access to the given item of a list or entry of a
// map or object. It returns "" if access does not parse anything.
func Parsed(of, key ref.Val) string {
	switch of := of.(type) {
	case *mapValue:
		name, ok := key.(celtypes.String)
		if !ok {
			return ""
		}
		field := string(name)
		if of.decl.Form() == types.FormObject {
			field, _ = types.Unescape(field)
		}
		return parsed(of.fields[field], of.child(field))
	case interface{ parsed(key ref.Val) string }: // a list
		return of.parsed(key)
	}
	return ""
}

func (l *listValue) parsed(key ref.Val) string {
	i, ok := key.(celtypes.Int)
	if !ok || i < 0 || int(i) >= len(l.items) {
		return ""
	}
	return parsed(l.items[i], l.elem)
}

func parsed(v any, d *types.Decl) string {
	if d == nil || d.Form() != types.FormScalar {
		return ""
	}
	switch d.Kind {
	case types.Duration, types.Date, types.Timestamp, types.Bytes:
		s, _ := v.(string)
		return s
	}
	return ""
}

// GoType returns the Go type of v as it appears in the API server's error messages.
func GoType(v ref.Val) string {
	switch v.(type) {
	case *mapValue:
		return "*common.unstructuredMap"
	case *listValue:
		return "*common.unstructuredList"
	case *setValue:
		return "*common.unstructuredSetList"
	case *mapListValue:
		return "*common.unstructuredMapList"
	case *unionValue:
		return "*common.refValSetList"
	case *mergedValue:
		return "*common.refValMapList"
	case *untypedMap:
		return "*types.baseMap"
	case *untypedList:
		return "*types.baseList"
	case *sumValue:
		return "*types.concatList"
	case *unknown:
		return "*common.unknownPreserved"
	}
	return fmt.Sprintf("%T", v)
}
