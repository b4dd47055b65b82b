package engine

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/celadon-cel/celadon/engine/x/schema"
	"github.com/celadon-cel/celadon/internal/mergeschema"
)

// Rules can select only name and generateName in metadata, but a rule that uses self or self.metadata as a whole sees
// all fields that an object has on the server. On create, these include fields that only the server sets. On update,
// the engine must find out whether the server's field manager changes managedFields.

// metadataOnServer returns fields of metadata that the object has on the server while rules run, but not here. On
// create, the values are arbitrary.
func (w *write) metadataOnServer() map[string]any {
	if w.old != nil {
		if fields, ok := w.managed(); ok {
			return map[string]any{managedFields: fields}
		}
		return nil
	}
	meta, ok := w.obj.Object["metadata"].(map[string]any)
	if !ok || !w.readsMetadata() {
		return nil
	}
	fields := map[string]any{"uid": "00000000-0000-0000-0000-000000000000", "creationTimestamp": "1970-01-01T00:00:00Z"}
	if noted(w.obj.Object, meta) {
		fields[managedFields] = []any{map[string]any{}}
	}
	return fields
}

func (w *write) readsMetadata() bool {
	root := w.version.rules().root
	return root != nil && root.readsMetadata()
}

func (n *ruleNode) readsMetadata() bool {
	return slices.ContainsFunc(n.rules, (*compiledRule).readsMetadata) || slices.ContainsFunc(n.allOf, (*ruleNode).readsMetadata)
}

func (w *write) seesManaged() bool { return !w.unmanaged && w.readsMetadata() }

// managed returns the managedFields that the object has on the server while the rules of an update run: the old ones
// if the field manager finds no change, and different entries otherwise.
func (w *write) managed() (fields any, ok bool) {
	if !w.seesManaged() {
		return nil, false
	}
	_, ok = w.obj.Object["metadata"].(map[string]any)
	was, had := w.old.Object["metadata"].(map[string]any)
	switch {
	case !ok || !had:
		return nil, false
	case w.ownersChanged:
		return []any{}, true
	}
	fields = was[managedFields]
	return fields, fields != nil
}

// unmanaged reports whether the server tracks no managers of an old object: because it came from a file, has an empty
// list, or had nothing to track when it was created (the server does not start later). A missing list proves nothing,
// because most tools hide it.
func unmanaged(given map[string]any, old *unstructured.Unstructured) bool {
	meta, _ := given["metadata"].(map[string]any)
	if fields, ok := meta[managedFields].([]any); ok {
		return len(fields) == 0
	}
	return old.GetResourceVersion() == "" || !noted(given, meta)
}

func noted(object, meta map[string]any) bool {
	for name := range object {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			return true
		}
	}
	return slices.ContainsFunc(ownedMetadata, func(name string) bool { return meta[name] != nil })
}

// The server tracks the managers of these fields.
var ownedMetadata = []string{"labels", "annotations", "finalizers", "ownerReferences"}

func sameOwnedMetadata(obj, old map[string]any) bool {
	is, _ := obj["metadata"].(map[string]any)
	was, _ := old["metadata"].(map[string]any)
	for _, name := range ownedMetadata {
		if (is[name] == nil) != (was[name] == nil) || !sameUnordered(is[name], was[name]) {
			return false
		}
	}
	return true
}

// sameUnordered ignores the order and repetition of list items, but the lists must have the same length.
func sameUnordered(a, b any) bool {
	list, ok := a.([]any)
	other, isList := b.([]any)
	if !ok || !isList {
		return schema.Equal(a, b)
	}
	return len(list) == len(other) && maps.Equal(itemsOf(list), itemsOf(other))
}

func itemsOf(list []any) map[string]bool {
	items := make(map[string]bool, len(list))
	for _, item := range list {
		if data, err := json.Marshal(item); err == nil {
			items[string(data)] = true
		}
	}
	return items
}

func (w *write) completeMetadata() (restore func()) {
	fields := w.metadataOnServer()
	if fields == nil {
		return func() {}
	}
	meta := w.obj.Object["metadata"].(map[string]any)
	maps.Copy(meta, fields)
	return func() {
		for name := range fields {
			delete(meta, name)
		}
	}
}

// sameStatusOwners reports whether a status write leaves managedFields as they are. The field manager compares the
// sent object with the old one by the rules of structured-merge-diff, ignoring metadata and spec.
func (s server) sameStatusOwners(v *crdVersion, sent, old map[string]any) bool {
	if !s.has(managedCleared) && sameBut("spec", sent, old) {
		return true
	}
	root := *v.schema
	root.XPreserveUnknownFields = root.XPreserveUnknownFields || v.preserve
	of := mergeschema.Of(&root)
	is, err := s.typed(of, &root, sent)
	was, err2 := s.typed(of, &root, old)
	if err != nil || err2 != nil {
		return !s.has(managedCleared)
	}
	changes, err := was.Compare(is)
	if err != nil {
		return !s.has(managedCleared)
	}
	return changes.ExcludeFields(fieldpath.NewSet(fieldpath.MakePathOrDie("spec"))).IsSame()
}

func (s server) typed(as typed.ParseableType, schema *structuralschema.Structural, obj map[string]any) (*typed.TypedValue, error) {
	if !s.has(managedPartialKeys) && lacksKeys(schema, obj) {
		return nil, errors.New("an element of a list of type map lacks a key")
	}
	var options []typed.ValidationOptions
	if s.has(managedDuplicates) {
		options = append(options, typed.AllowDuplicates)
	}
	fields := maps.Clone(obj)
	delete(fields, "metadata")
	return as.FromUnstructured(fields, options...)
}

func lacksKeys(of *structuralschema.Structural, v any) bool {
	if of == nil {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			field, ok := of.Properties[name]
			if ok && lacksKeys(&field, value) || !ok && lacksKeys(additional(of), value) {
				return true
			}
		}
	case []any:
		for _, element := range v {
			fields, _ := element.(map[string]any)
			lacks := func(key string) bool { _, ok := fields[key]; return !ok }
			if isMapList(of) && slices.ContainsFunc(of.XListMapKeys, lacks) || lacksKeys(of.Items, element) {
				return true
			}
		}
	}
	return false
}
