package engine

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/engine/x/schema"
)

// stored returns the old object as the server reads it from storage in version v: converted to the
// storage version, defaulted there, and without malformed metadata.
func (e *Engine) stored(ctx context.Context, old map[string]any, v *crdVersion) (map[string]any, error) {
	if !schema.Decoded(old) {
		return nil, checkTypes("", old)
	}
	from := e.versions[versionOf(old)]
	if e.webhook && from != v && e.info.Config.Converter == nil {
		return nil, &NotCheckedError{fmt.Sprintf("the old object is in version %s, the new one in %s, and the CRD converts with a webhook: use the same version for both", versionOf(old), v.name)}
	}
	if e.webhook && from != nil && from != e.storageVersionOf(v) {
		var err error // a converter gets objects as they were accepted in their version
		if old, _, err = e.coerce(old, from, coercion{repair: true, fill: true}); err != nil {
			return nil, err
		}
	}
	kept, err := e.inVersion(ctx, old, e.storageVersionOf(v))
	if err != nil {
		return nil, err
	}
	return e.readBack(ctx, kept, v, false)
}

// persisted returns an accepted object as a later read in its version returns it (read) and as it
// is stored (kept). If prepared is set, obj already has the form of v, except that its status may
// have been removed.
func (e *Engine) persisted(ctx context.Context, obj map[string]any, v *crdVersion, prepared bool) (read, kept map[string]any, err error) {
	home := e.storageVersionOf(v)
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

// storageVersionOf returns the version in which objects of v are stored, as far as it can be determined.
func (e *Engine) storageVersionOf(v *crdVersion) *crdVersion {
	if e.webhook && e.info.Config.Converter == nil {
		return v // the webhook's result is unknown
	}
	return e.storage
}

// readBack reads an object from storage in version v. The result may share memory with kept. If
// done is set, only the metadata is processed.
func (e *Engine) readBack(ctx context.Context, kept map[string]any, v *crdVersion, done bool) (map[string]any, error) {
	read, _, err := e.coerce(kept, e.storageVersionOf(v), coercion{repair: true, fill: true, done: done})
	if err != nil {
		return nil, err
	}
	return e.converted(ctx, read, v)
}

// converted returns an object as the CRD's conversion converts it to v, pruned.
func (e *Engine) converted(ctx context.Context, obj map[string]any, v *crdVersion) (map[string]any, error) {
	converted, err := e.inVersion(ctx, obj, v)
	if err != nil || e.webhook || sameMapping(converted, obj) {
		return converted, err
	}
	converted, _, err = e.coerce(converted, v, coercion{})
	return converted, err
}
