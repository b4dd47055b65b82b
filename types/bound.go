package types

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Bound is the greatest size of a value, and where that comes from.
type Bound struct {
	// Max is the number of bytes, items or entries that the API server assumes.
	Max int64
	// Source says which of the schema's words gave Max.
	Source BoundSource
}

// BoundSource is where a bound comes from.
type BoundSource uint8

const (
	// NoBound: the type has no size.
	NoBound BoundSource = iota
	// Declared by maxLength, maxItems or maxProperties.
	Declared
	// Enumerated: the longest value of an enum.
	Enumerated
	// Formatted: the longest text of the format.
	Formatted
	// Assumed: what fits into a request of 3 MiB.
	Assumed
)

func (s BoundSource) String() string {
	switch s {
	case Declared:
		return "declared"
	case Enumerated:
		return "enum"
	case Formatted:
		return "format"
	case Assumed:
		return "3 MiB request"
	}
	return "none"
}

const (
	maxRequest       = apiservercel.DefaultMaxRequestSizeBytes
	minContainerSize = 2 // [] or {}
	maxRuneBytes     = 4 // maxLength counts code points, cost counts bytes
)

func listBound(s *schema.Structural, elem *Decl) Bound {
	if v := s.ValueValidation; v != nil && v.MaxItems != nil {
		return Bound{max(0, *v.MaxItems), Declared}
	}
	return Bound{(maxRequest - 2) / (elem.MinSize + 1), Assumed}
}

func mapBound(s *schema.Structural, elem *Decl) Bound {
	if v := s.ValueValidation; v != nil && v.MaxProperties != nil {
		return Bound{max(0, *v.MaxProperties), Declared}
	}
	// quotes of an empty key, colon and comma, and two bytes of key
	return Bound{(maxRequest - 2) / (elem.MinSize + 6), Assumed}
}

// stringBound also serves int-or-string, whose text may be any string.
func stringBound(s *schema.Structural) Bound {
	v := s.ValueValidation
	if v == nil {
		v = &schema.ValueValidation{}
	}
	if !s.XIntOrString {
		switch v.Format {
		case "duration":
			return Bound{apiservercel.MaxDurationSizeJSON, Formatted}
		case "date":
			return Bound{apiservercel.JSONDateSize, Formatted}
		case "date-time":
			return Bound{apiservercel.MaxDatetimeSizeJSON, Formatted}
		case "byte":
			if v.MaxLength != nil {
				return Bound{max(0, *v.MaxLength), Declared}
			}
			return Bound{maxRequest - 2, Assumed}
		}
	}
	if v.MaxLength != nil {
		return Bound{max(0, *v.MaxLength) * maxRuneBytes, Declared}
	}
	if len(v.Enum) > 0 && !s.XIntOrString {
		longest := 0
		for _, e := range v.Enum {
			if text, ok := e.Object.(string); ok {
				longest = max(longest, len(text))
			}
		}
		return Bound{int64(longest), Enumerated}
	}
	return Bound{maxRequest - 2, Assumed}
}
