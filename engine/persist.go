package engine

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/engine/x/schema"
)

// stored is the old object as the server reads it back from storage in version
// v: written through the storage version's schema, defaulted, its malformed
// metadata dropped.
func (e *Engine) stored(ctx context.Context, old map[string]any, v *crdVersion) (map[string]any, error) {
	if !schema.Decoded(old) {
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
	kept, err := e.inVersion(ctx, old, e.home(v))
	if err != nil {
		return nil, err
	}
	return e.readBack(ctx, kept, v, false)
}

// persisted is an accepted object as a later read in its version returns it, and
// kept as storage has it. One that is prepared has v's form, but for a status that
// was taken away.
func (e *Engine) persisted(ctx context.Context, obj map[string]any, v *crdVersion, prepared bool) (read, kept map[string]any, err error) {
	home := e.home(v)
	if kept, err = e.converted(ctx, obj, home); err != nil {
		return nil, nil, err
	}
	filled, done := kept, prepared && home == v && v.values.Settled()
	if done {
		filled = v.values.FillRoot(kept)
	}
	read, err = e.readBack(ctx, filled, v, done)
	return read, kept, err
}

// home is the version that objects of v are stored in, as far as can be known.
func (e *Engine) home(v *crdVersion) *crdVersion {
	if e.webhook && e.config.Converter == nil {
		return v // what the webhook makes of it cannot be known
	}
	return e.storage
}

// readBack reads an object out of storage in version v. It shares memory with the
// object given. Of one that is done, only the metadata is looked at.
func (e *Engine) readBack(ctx context.Context, kept map[string]any, v *crdVersion, done bool) (map[string]any, error) {
	read, _, err := e.coerce(kept, e.home(v), coercion{repair: true, fill: true, done: done})
	if err != nil {
		return nil, err
	}
	return e.converted(ctx, read, v)
}

// converted is an object as the CRD's conversion gives it, pruned.
func (e *Engine) converted(ctx context.Context, obj map[string]any, v *crdVersion) (map[string]any, error) {
	converted, err := e.inVersion(ctx, obj, v)
	if err != nil || e.webhook || sameMapping(converted, obj) {
		return converted, err
	}
	converted, _, err = e.coerce(converted, v, coercion{})
	return converted, err
}
