package policy

import (
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/celadon-cel/celadon/internal/mergeschema"
)

// A MergeSchema describes how an ApplyConfiguration patch merges with objects of a kind: which fields
// exist, and which lists and maps are merged by key or replaced as a whole. It is immutable and safe for
// concurrent use.
type MergeSchema struct {
	typed  typed.ParseableType
	strict bool
}

// Strict returns the merge schema of a kind that the API server defines in Go. A JSON patch of such a kind fails if it
// adds a field that the schema does not declare.
func (m *MergeSchema) Strict() *MergeSchema { return &MergeSchema{m.typed, true} }

// NewMergeSchema returns the merge schema of a kind with the given schema. s describes the whole object,
// and is nil for a kind without a schema. NewMergeSchema may share memory with s.
func NewMergeSchema(s *structural.Structural) *MergeSchema {
	return &MergeSchema{typed: mergeschema.Of(s)}
}
