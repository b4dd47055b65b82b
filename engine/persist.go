package engine

import (
	"fmt"
	"maps"
)

// stored is the old object as the server reads it back from storage in version
// v: written through the storage version's schema, defaulted, its malformed
// metadata dropped.
func (e *Engine) stored(old map[string]any, v *crdVersion) (map[string]any, error) {
	if !decodedJSON(old) {
		return nil, checkTypes("", old)
	}
	from := versionOf(old)
	if e.webhook && from != v.name {
		return nil, &NotCheckedError{fmt.Sprintf("the old object is in version %s, the new one in %s, and the CRD converts by a webhook: give both in one version", from, v.name)}
	}
	return e.readBack(old, v, false)
}

// persisted is an accepted object as a later read in its version returns it. One
// that is prepared has v's form, but for a status that was taken away. It may be
// changed.
func (e *Engine) persisted(obj map[string]any, v *crdVersion, prepared bool) map[string]any {
	done := prepared && v.values.Settled() && (e.webhook || e.storage == v)
	if done {
		v.values.FillRoot(obj)
	}
	out, err := e.readBack(obj, v, done)
	if err != nil {
		panic(err) // it was coerced before
	}
	return out
}

// readBack takes an object to storage and from there to version v. It shares
// memory with the object given. Of one that is done, only the metadata is
// looked at.
func (e *Engine) readBack(obj map[string]any, v *crdVersion, done bool) (map[string]any, error) {
	storage := e.storage
	if e.webhook {
		storage = v // what a webhook makes of it cannot be known
	}
	read, _, err := e.coerce(e.inVersion(obj, storage), storage, coercion{repair: true, fill: true, done: done})
	if err != nil || storage == v {
		return read, err
	}
	converted, _, err := e.coerce(e.inVersion(read, v), v, coercion{})
	return converted, err
}

// inVersion is an object as conversion None gives it.
func (e *Engine) inVersion(obj map[string]any, v *crdVersion) map[string]any {
	if _, ok := obj["apiVersion"]; !ok || versionOf(obj) == v.name {
		return obj
	}
	obj = maps.Clone(obj)
	obj["apiVersion"] = e.group + "/" + v.name
	return obj
}
