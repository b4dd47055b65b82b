package celvalue

import (
	"fmt"
	"reflect"
	"sync/atomic"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A sumValue is a list that adding two lists made. Unlike for other lists, Value returns the values of the
// items, not the items. They are computed once, because sums can share items many times.
type sumValue struct {
	traits.Lister
	values atomic.Pointer[[]any]
}

var (
	_ traits.Lister = (*sumValue)(nil)
	_ traits.Zeroer = (*sumValue)(nil)
)

// NewSum returns the sum of two lists with the given items.
func NewSum(items []ref.Val) ref.Val { return &sumValue{Lister: newList(items)} }

func (s *sumValue) IsZeroValue() bool { return s.Size() == celtypes.IntZero }

func (s *sumValue) String() string { return fmt.Sprint(s.Lister) }

func (s *sumValue) Value() any {
	if known := s.values.Load(); known != nil {
		return *known
	}
	var values []any
	for it := s.Iterator(); it.HasNext() == celtypes.True; {
		values = append(values, it.Next().Value())
	}
	s.values.Store(&values)
	return values
}

func (s *sumValue) ConvertToNative(t reflect.Type) (any, error) {
	return celtypes.NewDynamicList(celtypes.DefaultTypeAdapter, s.Value()).ConvertToNative(t)
}

func (s *sumValue) ConvertToType(t ref.Type) ref.Val {
	if t == celtypes.ListType {
		return s
	}
	return s.Lister.ConvertToType(t)
}
