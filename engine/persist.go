package engine

import (
	"context"
	"fmt"
)

// stored is the old object as the server reads it back from storage in version
// v: written through the storage version's schema, defaulted, its malformed
// metadata dropped.
func (e *Engine) stored(ctx context.Context, old map[string]any, v *crdVersion) (map[string]any, error) {
	if !decodedJSON(old) {
		return nil, checkTypes("", old)
	}
	from := e.versions[versionOf(old)]
	if e.webhook && from != v && e.config.Converter == nil {
		return nil, &NotCheckedError{fmt.Sprintf("the old object is in version %s, the new one in %s, and the CRD converts by a webhook: give both in one version", versionOf(old), v.name)}
	}
	if e.webhook && from != nil && from != e.home(v) {
		var err error // a converter gets what was let in at its version
		if old, _, err = e.coerce(old, from, coercion{repair: true, fill: true}); err != nil {
			return nil, err
		}
	}
	read, _, err := e.readBack(ctx, old, v, false)
	return read, err
}

// persisted is an accepted object as a later read in its version returns it, and
// what a converter made of it for storage. One that is prepared has v's form, but
// for a status that was taken away. It may be changed.
func (e *Engine) persisted(ctx context.Context, obj map[string]any, v *crdVersion, prepared bool) (read, kept map[string]any, err error) {
	done := prepared && v.values.Settled() && e.home(v) == v
	if done {
		v.values.FillRoot(obj)
	}
	return e.readBack(ctx, obj, v, done)
}

// home is the version that objects of v are stored in, as far as can be known.
func (e *Engine) home(v *crdVersion) *crdVersion {
	if e.webhook && e.config.Converter == nil {
		return v // what the webhook makes of it cannot be known
	}
	return e.storage
}

// readBack takes an object to storage and from there to version v; kept is what a
// converter makes of it on the way. It shares memory with the object given. Of
// one that is done, only the metadata is looked at.
func (e *Engine) readBack(ctx context.Context, obj map[string]any, v *crdVersion, done bool) (read, kept map[string]any, err error) {
	home := e.home(v)
	written, err := e.inVersion(ctx, obj, home)
	if err != nil {
		return nil, nil, err
	}
	if e.webhook && versionOf(obj) != home.name {
		kept = written
	}
	read, _, err = e.coerce(written, home, coercion{repair: true, fill: true, done: done})
	if err != nil || home == v {
		return read, kept, err
	}
	converted, err := e.inVersion(ctx, read, v)
	if err != nil || e.webhook {
		return converted, kept, err
	}
	converted, _, err = e.coerce(converted, v, coercion{})
	return converted, kept, err
}
