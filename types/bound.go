package types

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/internal/minors"
)

// Bound is the maximum size of a value.
type Bound struct {
	// Max is the number of bytes, items, or entries that the API server assumes.
	Max int64
	// Source identifies the schema constraint that determined Max.
	Source BoundSource
}

// A BoundSource identifies the origin of a Bound.
type BoundSource uint8

const (
	// NoBound means that no maximum is declared or assumed, for example for numbers and objects.
	NoBound BoundSource = iota
	// Declared means that Max comes from maxLength, maxItems, or maxProperties, or from the maxLength that servers add
	// to metadata.name and generateName.
	Declared
	// Enumerated means that Max is the length of the longest enum value.
	Enumerated
	// Formatted means that Max is the maximum length of a string in the format.
	Formatted
	// Assumed means that Max is the most that fits into a request of 3 MiB.
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
	maxRequest       = kubecel.DefaultMaxRequestSizeBytes
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
	// Two quotes, a colon, a comma, and a key of two bytes.
	return Bound{(maxRequest - 2) / (elem.MinSize + 6), Assumed}
}

// For int-or-string, format and enum do not limit the length.
func (v Version) stringBound(s *schema.Structural) Bound {
	has := s.ValueValidation
	if has == nil {
		has = &schema.ValueValidation{}
	}
	if s.XIntOrString {
		if has.MaxLength != nil && intOrStringLength.Include(v.Minor) {
			return Bound{max(0, *has.MaxLength) * maxRuneBytes, Declared}
		}
		return Bound{maxRequest - 2, Assumed}
	}
	switch has.Format {
	case "duration":
		return Bound{kubecel.MaxDurationSizeJSON, Formatted}
	case "date":
		return Bound{kubecel.JSONDateSize, Formatted}
	case "date-time":
		return Bound{kubecel.MaxDatetimeSizeJSON, Formatted}
	case "byte":
		if has.MaxLength != nil {
			return Bound{max(0, *has.MaxLength), Declared}
		}
		return Bound{maxRequest - 2, Assumed}
	}
	if has.MaxLength != nil {
		return Bound{max(0, *has.MaxLength) * maxRuneBytes, Declared}
	}
	if len(has.Enum) > 0 && enumLength.Include(v.Minor) {
		return Bound{longestText(has.Enum), Enumerated}
	}
	return Bound{maxRequest - 2, Assumed}
}

func longestText(enum []schema.JSON) (bytes int64) {
	for _, e := range enum {
		if text, ok := e.Object.(string); ok {
			bytes = max(bytes, int64(len(text)))
		}
	}
	return bytes
}

// The versions with each behavior; see SchemaDeclType in k8s.io/apiserver/pkg/cel/common and
// WithTypeAndObjectMeta in k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model.
var (
	// enumLength: a string is at most as long as its longest enum value.
	enumLength = minors.Since(29)
	// intOrStringLength: maxLength applies to an int-or-string.
	intOrStringLength = minors.Since(34)
	// nameLength: metadata.name and generateName have the bound of a DNS subdomain.
	nameLength = minors.Since(37)
	// rootMaps: a resource's root can have additionalProperties.
	rootMaps = minors.Since(31)
)

// noEmptyObjects are the versions in which an object without declared fields is an error, unless it
// keeps unknown fields; see UnstructuredToVal in k8s.io/apiserver/pkg/cel/common.
var noEmptyObjects = minors.Until(29)

// SameBounds reports whether two versions declare all schemas with the same bounds.
func (v Version) SameBounds(other Version) bool {
	for _, in := range []minors.Range{enumLength, intOrStringLength, nameLength, rootMaps} {
		if in.Include(v.Minor) != in.Include(other.Minor) {
			return false
		}
	}
	return true
}
