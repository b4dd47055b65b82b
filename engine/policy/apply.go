package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/mergeschema"
	"github.com/celadon-cel/celadon/internal/minors"
)

// duplicatesAllowed are the versions that accept objects in which items of a list have the same key.
var duplicatesAllowed = minors.Since(35) // k8s.io/apiserver 0.35, plugin/policy/mutating/patch/smd.go

// maxKeyed limits the items of a list that are merged one by one, because merging can take quadratic time.
const maxKeyed = 20_000

// A MergeSchema describes how an ApplyConfiguration patch merges with objects of a kind. It is immutable and safe for
// concurrent use.
type MergeSchema struct {
	typed  typed.ParseableType
	strict bool
}

// Strict returns m for a kind that the API server defines in Go: a JSON patch fails if the patched object has a field
// that m does not declare.
func (m *MergeSchema) Strict() *MergeSchema { return &MergeSchema{m.typed, true} }

// NewMergeSchema returns the merge schema of a kind with the given schema. s describes the whole object,
// and is nil for a kind without a schema. NewMergeSchema may share memory with s.
func NewMergeSchema(s *structural.Structural) *MergeSchema {
	return &MergeSchema{typed: mergeschema.Of(s)}
}

type undecidedError struct{ reason string }

func (e *undecidedError) Error() string { return e.reason }

// apply merges patch into object without modifying it. The result may share memory with object.
func (m *MergeSchema) apply(
	object map[string]any, patch *celenv.ObjectValue, kind apischema.GroupVersionKind, minor int, spend spendFunc,
) (map[string]any, error) {
	if err := patch.CheckTypes(); err != nil {
		return nil, fmt.Errorf("type mismatch: %w", err)
	}
	fields, ok := patch.Value().(map[string]any)
	if !ok {
		return nil, errors.New("invalid return type: *dynamic.ObjectVal")
	}
	fields["apiVersion"], fields["kind"] = textOf(object, "apiVersion"), textOf(object, "kind")
	merged, err := m.merge(object, fields, kind, minor, spend)
	var undecided *undecidedError
	if err != nil && !errors.As(err, &undecided) {
		err = fmt.Errorf("error applying patch: %w", err)
	}
	return merged, err
}

func (m *MergeSchema) merge(
	object, patch map[string]any, kind apischema.GroupVersionKind, minor int, spend spendFunc,
) (map[string]any, error) {
	if own := apischema.FromAPIVersionAndKind(textOf(object, "apiVersion"), textOf(object, "kind")); own != kind {
		return nil, fmt.Errorf("failed to convert patch object to typed object: no corresponding type for %v", own)
	}
	w := &mergeWalk{schema: m.typed.Schema}
	w.value(m.typed.TypeRef, object, "", false)
	w.indexed = true
	if w.value(m.typed.TypeRef, patch, "", true); w.tooLong != "" {
		return nil, &undecidedError{fmt.Sprintf("%s has over %d items, which take long to merge", w.tooLong, maxKeyed)}
	}
	if err := spend(w.work); err != nil {
		return nil, err
	}
	patchValue, err := m.convert(patch)
	if err != nil {
		return nil, fmt.Errorf("failed to convert patch object to typed object: %w", err)
	}
	if len(w.atomic) > 0 {
		return nil, fmt.Errorf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %v", strings.Join(w.atomic, ", "))
	}
	var options []typed.ValidationOptions
	if duplicatesAllowed.Include(minor) {
		options = append(options, typed.AllowDuplicates)
	}
	value, err := m.convert(object, options...)
	if err != nil {
		return nil, fmt.Errorf("failed to convert original object to typed object: %w", err)
	}
	merged, err := value.Merge(patchValue)
	if err != nil {
		return nil, fmt.Errorf("failed to merge patch: %w", err)
	}
	out, ok := merged.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("failed to convert typed object to object: failed to convert value to unstructured for type %T", merged.AsValue().Unstructured())
	}
	return out, nil
}

const maxUnknown = 100 // sigs.k8s.io/json, kubernetes_patch.go

// checkFields returns the server's error for undeclared fields if m is strict. m may be nil.
func (m *MergeSchema) checkFields(object map[string]any) error {
	if m == nil || !m.strict {
		return nil
	}
	w := &mergeWalk{schema: m.typed.Schema, indexed: true}
	if w.value(m.typed.TypeRef, object, "", false); len(w.unknown) == 0 {
		return nil
	}
	return apierrors.NewInternalError(fmt.Errorf("strict decoding error: %s", strings.Join(w.unknown, ", ")))
}

type mergeWalk struct {
	schema  *schema.Schema
	indexed bool // paths have the indexes of items
	// atomic holds the paths of lists and maps in the patch that would be replaced as a whole.
	atomic  []string
	unknown []string
	tooLong string
	work    uint64 // of merging
}

// Like the server, value does not look for atomic lists and maps in additional properties.
func (w *mergeWalk) value(t schema.TypeRef, v any, path string, patch bool) {
	w.work += mergeWork
	atom, _ := w.schema.Resolve(t)
	switch v := v.(type) {
	case map[string]any:
		if atom.Map != nil {
			w.fields(atom.Map, v, path, patch)
		}
	case []any:
		if atom.List != nil {
			w.items(atom.List, v, path, patch)
		}
	}
}

func (w *mergeWalk) fields(m *schema.Map, fields map[string]any, path string, patch bool) {
	if patch && m.ElementRelationship == schema.Atomic {
		w.atomic = append(w.atomic, path)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := path + "." + name
		if f, ok := m.FindField(name); ok {
			w.value(f.Type, fields[name], at, patch)
		} else if m.ElementType != (schema.TypeRef{}) {
			w.value(m.ElementType, fields[name], at, false)
		} else if len(w.unknown) < maxUnknown {
			w.unknown = append(w.unknown, fmt.Sprintf("unknown field %q", at[1:]))
		}
	}
}

func (w *mergeWalk) items(list *schema.List, items []any, path string, patch bool) {
	if list.ElementRelationship != schema.Atomic {
		if w.work += keyedWork * uint64(len(items)); len(items) > maxKeyed && w.tooLong == "" {
			w.tooLong = strings.TrimPrefix(path, ".")
		}
	} else if patch {
		w.atomic = append(w.atomic, path)
	}
	for i, item := range items {
		at := path
		if w.indexed {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		w.value(list.ElementType, item, at, patch)
	}
}

// sortedErrors returns the errors of a value that does not fit its type. The library reports errors of fields in
// random order and ends a map at the first undeclared field, so this repeats it in the order of names.
func (m *MergeSchema) sortedErrors(t schema.TypeRef, v any, path string, options []typed.ValidationOptions) typed.ValidationErrors {
	var found typed.ValidationErrors
	atom, _ := m.typed.Schema.Resolve(t)
	fields, isMap := v.(map[string]any)
	if !isMap || atom.Map == nil {
		_, err := typed.ParseableType{Schema: m.typed.Schema, TypeRef: t}.FromUnstructured(v, options...)
		errors.As(err, &found)
		for i := range found {
			found[i].Path = path + found[i].Path
		}
		return found
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		of := atom.Map.ElementType
		if f, ok := atom.Map.FindField(name); ok {
			of = f.Type
		} else if of == (schema.TypeRef{}) {
			return append(found, typed.ValidationError{Path: path + "." + name, ErrorMessage: "field not declared in schema"})
		}
		found = append(found, m.sortedErrors(of, fields[name], path+"."+name, options)...)
	}
	return found
}

func (m *MergeSchema) convert(v any, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	out, err := m.typed.FromUnstructured(v, options...)
	if err == nil {
		return out, nil
	}
	if found := m.sortedErrors(m.typed.TypeRef, v, "", options); len(found) > 0 {
		return nil, found
	}
	return nil, err
}
