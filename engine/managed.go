package engine

import (
	"encoding/json"
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/celadon-cel/celadon/engine/x/schema"
)

// Rules can select only name and generateName in metadata, but a rule that uses self or self.metadata as a whole sees
// all fields that an object has on the server. On create, these include fields that only the server sets. On update,
// the engine must find out whether the server's field manager changes managedFields.

// metadataOnServer returns fields of metadata that the object has on the server while rules run, but not here, if
// rules may see them. On create, the values are arbitrary.
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

// readsMetadata reports whether a rule may depend on all fields of metadata.
func (w *write) readsMetadata() bool {
	root := w.version.rules().root
	return root != nil && root.readsMetadata()
}

func (n *ruleNode) readsMetadata() bool {
	return slices.ContainsFunc(n.rules, (*compiledRule).readsMetadata) || slices.ContainsFunc(n.allOf, (*ruleNode).readsMetadata)
}

// seesManaged reports whether a rule of an update may see managedFields, and the server tracks them.
func (w *write) seesManaged() bool { return !w.unmanaged && w.readsMetadata() }

// managed returns the managedFields that the object has on the server while the rules of an update run: those
// of the old object if the field manager finds no change, and different entries otherwise. It returns false if the
// object has no managedFields, or if no rule sees them.
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

// noted reports whether an object has fields whose managers the server tracks.
func noted(object, meta map[string]any) bool {
	for name := range object {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			return true
		}
	}
	return slices.ContainsFunc(ownedMetadata, func(name string) bool { return meta[name] != nil })
}

// ownedMetadata lists the fields of metadata whose managers the server tracks.
var ownedMetadata = []string{"labels", "annotations", "finalizers", "ownerReferences"}

// sameOwnedMetadata reports whether two objects have the same values of ownedMetadata. The order of finalizers and of
// owners does not matter.
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

// sameUnordered reports whether two values are equal if order and repetition of list items are ignored. Lists must have the
// same length.
func sameUnordered(a, b any) bool {
	list, ok := a.([]any)
	other, isList := b.([]any)
	if !ok || !isList {
		return schema.Equal(a, b)
	}
	return len(list) == len(other) && maps.Equal(itemsOf(list), itemsOf(other))
}

// itemsOf returns the items of a list as JSON.
func itemsOf(list []any) map[string]bool {
	items := make(map[string]bool, len(list))
	for _, item := range list {
		if data, err := json.Marshal(item); err == nil {
			items[string(data)] = true
		}
	}
	return items
}

// completeMetadata sets the metadata that the object has on the server, until restore is called.
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
// sent object with the old one by the rules of structured-merge-diff, and ignores metadata and spec. It fails if one of the
// two does not have the types of the schema.
func (s *server) sameStatusOwners(v *crdVersion, sent, old map[string]any) bool {
	same := sameBut("spec", sent, old)
	if same && !s.has[managedCleared] {
		return true
	}
	if !s.typed(v, sent) || !s.typed(v, old) {
		return !s.has[managedCleared]
	}
	if same {
		return true
	}
	if (sent["metadata"] == nil) != (old["metadata"] == nil) || without("spec", sent) != without("spec", old) {
		return false
	}
	for name, value := range sent {
		if name == "metadata" || name == "spec" {
			continue
		}
		was, ok := old[name]
		if !ok || !sameOwned(propertyOf(v.schema, name), value, was) {
			return false
		}
	}
	return true
}

// sameOwned reports whether structured-merge-diff finds no difference between two values of s. Lists of type set and map
// have no order, and numbers are compared by value. A nil schema describes values without types, whose lists are
// ordered.
func sameOwned(s *structuralschema.Structural, a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && sameFields(s, a, b)
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && sameElements(s, a, b)
	case int64:
		if b, ok := b.(float64); ok {
			return float64(a) == b
		}
	case float64:
		if b, ok := b.(int64); ok {
			return a == float64(b)
		}
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func sameFields(s *structuralschema.Structural, a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	if s != nil && s.XMapType != nil && *s.XMapType == "atomic" {
		s = nil
	}
	for name, value := range a {
		was, ok := b[name]
		if !ok || !sameOwned(propertyOf(s, name), value, was) {
			return false
		}
	}
	return true
}

// sameElements reports whether lists of the same length have the same elements. Elements that share
// a key are compared as atomic values, in their order.
func sameElements(s *structuralschema.Structural, a, b []any) bool {
	if !associative(s) {
		for i := range a {
			if !sameOwned(nil, a[i], b[i]) {
				return false
			}
		}
		return true
	}
	byKey := elementsByKey(s, b)
	for key, elements := range elementsByKey(s, a) {
		was := byKey[key]
		if len(was) != len(elements) {
			return false
		}
		items := s.Items
		if len(elements) > 1 {
			items = nil
		}
		for i := range elements {
			if !sameOwned(items, elements[i], was[i]) {
				return false
			}
		}
	}
	return true
}

func elementsByKey(s *structuralschema.Structural, list []any) map[string][]any {
	out := make(map[string][]any, len(list))
	for _, element := range list {
		key, _ := elementKey(s, element)
		out[key] = append(out[key], element)
	}
	return out
}

// elementKey returns the key of an element of a list of type set or map, or false if it has no key.
func elementKey(s *structuralschema.Structural, element any) (key string, ok bool) {
	fields, isMap := element.(map[string]any)
	if *s.XListType == "set" {
		_, isList := element.([]any)
		if isMap || isList || element == nil {
			return "", false
		}
		return asJSON(element), true
	}
	keys := map[string]any{}
	for _, name := range s.XListMapKeys {
		if v, ok := fields[name]; ok {
			keys[name] = v
		}
	}
	return asJSON(keys), len(keys) > 0
}

// asJSON encodes decoded JSON. The encodings of 1 and 1.0 are equal.
func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // decoded JSON can be encoded
	}
	return string(data)
}

func associative(s *structuralschema.Structural) bool {
	return s != nil && s.XListType != nil && (*s.XListType == "set" || *s.XListType == "map")
}

// propertyOf returns the schema of a field, or nil if the field has no types.
func propertyOf(s *structuralschema.Structural, name string) *structuralschema.Structural {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// typed reports whether an object has the types that the field manager requires.
func (s *server) typed(v *crdVersion, obj map[string]any) bool {
	return s.typedFields(v.schema, obj, v.preserve || v.schema.XPreserveUnknownFields, true)
}

// typedValue reports whether a value has the types of of. Below open schemas, fields may be undeclared.
func (s *server) typedValue(of *structuralschema.Structural, v any, open bool) bool {
	if of == nil || v == nil {
		return true
	}
	open = open || of.XPreserveUnknownFields
	switch v := v.(type) {
	case map[string]any:
		return (of.Type == "" || of.Type == "object") && s.typedFields(of, v, open, of.XEmbeddedResource)
	case []any:
		return (of.Type == "" || of.Type == "array") && s.typedElements(of, v, open)
	}
	return typedScalar(of, v)
}

// typedFields reports whether the fields of an object have the types of of. The type and metadata of a
// resource are skipped, because decoding ensures their types.
func (s *server) typedFields(of *structuralschema.Structural, fields map[string]any, open, resource bool) bool {
	for name, v := range fields {
		if resource && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		if !declared(of, name, open || len(of.Properties) == 0 && !resource) || !s.typedValue(propertyOf(of, name), v, open) {
			return false
		}
	}
	return true
}

func declared(s *structuralschema.Structural, name string, open bool) bool {
	if _, ok := s.Properties[name]; ok {
		return true
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Bool || s.AdditionalProperties.Structural != nil
	}
	return open
}

func (s *server) typedElements(of *structuralschema.Structural, list []any, open bool) bool {
	if associative(of) && !s.typedKeys(of, list) {
		return false
	}
	for _, v := range list {
		if !s.typedValue(of.Items, v, open) {
			return false
		}
	}
	return true
}

// typedKeys reports whether the elements of a list of type set or map have keys that the field manager accepts.
func (s *server) typedKeys(of *structuralschema.Structural, list []any) bool {
	seen := make(map[string]bool, len(list))
	for _, v := range list {
		key, ok := elementKey(of, v)
		if !ok || seen[key] && !s.has[managedDuplicates] {
			return false
		}
		seen[key] = true
		fields, _ := v.(map[string]any)
		if *of.XListType == "map" && !s.has[managedPartialKeys] && slices.ContainsFunc(of.XListMapKeys, func(name string) bool { _, ok := fields[name]; return !ok }) {
			return false
		}
	}
	return true
}

func typedScalar(s *structuralschema.Structural, v any) bool {
	ok := true
	switch s.Type {
	case "integer", "number":
		switch v.(type) {
		case int64, float64:
		default:
			ok = false
		}
	case "boolean":
		_, ok = v.(bool)
	case "string":
		if s.ValueValidation == nil || s.ValueValidation.Format == "" || s.ValueValidation.Format == "byte" {
			_, ok = v.(string)
		}
	case "object", "array":
		ok = false
	}
	return ok
}
