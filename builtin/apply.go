package builtin

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/registry/rest"
	applyconfigurations "k8s.io/client-go/applyconfigurations"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/apply"
)

// applies reports whether the write is an apply. Fields of newer minors are reported as for a replacement, because
// an older server rejects them in a patch with different messages.
func (w *write) applies() bool {
	return w.Object != nil && len(w.newer) == 0 && (w.Apply.Kind == apply.Client || w.Apply.Kind == apply.Server)
}

// patch returns the body of the request that an apply sends, or nil if it sends none, and the type of
// the patch, or "" if it is a create, as kubectl's client-side apply sends for a new object. It adds
// the parameters of a server-side apply to query.
func (w *write) patch(query url.Values) (body []byte, kind types.PatchType, err error) {
	object := runtime.DeepCopyJSON(w.Object)
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, "", &apply.PatchError{Err: errors.New("metadata is missing")}
	}
	if w.kind.Namespaced() {
		meta["namespace"] = w.info.Namespace
	}
	if w.Apply.Kind == apply.Server {
		if err := apply.CheckManaged(w.OldObject); err != nil {
			return nil, "", err
		}
		query.Set("fieldManager", w.Apply.Manager)
		query.Set("force", strconv.FormatBool(w.Apply.Force))
		body, err = json.Marshal(object)
		return body, types.ApplyYAMLPatchType, err
	}
	if w.old == nil {
		if object, err = apply.Created(object); err == nil {
			body, err = json.Marshal(object)
		}
		return body, "", err
	}
	live, err := w.served()
	if err != nil {
		return nil, "", err
	}
	body, err = apply.Patch(live, object, w.kind.Type)
	return body, types.StrategicMergePatchType, err
}

// served returns the old object as a read returns it.
func (w *write) served() (map[string]any, error) {
	data, err := runtime.Encode(legacyscheme.Codecs.LegacyCodec(w.kind.GroupVersion()), w.old)
	if err != nil {
		return nil, err
	}
	return engine.Decode(data)
}

func (w *write) unchanged() (*engine.Result, error) {
	if w.NoObject {
		return &engine.Result{Allowed: true}, nil
	}
	live, err := w.served()
	if err != nil {
		return nil, err
	}
	return &engine.Result{Allowed: true, Object: w.persisted(live)}, nil
}

// fieldTypes converts objects of the kinds that client-go has types for.
var fieldTypes = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(legacyscheme.Scheme)
})

// newApplyManager returns the field manager of an endpoint as APIInstaller in k8s.io/apiserver/pkg/endpoints does.
func newApplyManager(
	kind schema.GroupVersionKind, hub schema.GroupVersion, subresource string, storage rest.Storage,
) (*managedfields.FieldManager, error) {
	scheme, reset := legacyscheme.Scheme, map[fieldpath.APIVersion]fieldpath.Filter(nil)
	if s, ok := storage.(rest.ResetFieldsStrategy); ok {
		reset = fieldpath.NewExcludeFilterSetMap(s.GetResetFields())
	}
	if s, ok := storage.(rest.ResetFieldsFilterStrategy); ok {
		reset = s.GetResetFieldsFilter()
	}
	converter, unsafe := fieldTypes(), runtime.UnsafeObjectConvertor(scheme)
	if kind.Group == apiextensions.GroupName {
		converter = managedfields.NewDeducedTypeConverter() // client-go has no types of CRDs
	}
	return managedfields.NewDefaultFieldManager(converter, unsafe, scheme, scheme, kind, hub, subresource, reset)
}

// migrate replaces the object of a result by the result of the second request that kubectl sends in
// some cases; see apply.Migrated. Policies have already accepted the object.
func (w *write) migrate(res *engine.Result, r *response) {
	object, err := engine.Decode(r.body.Bytes())
	if err != nil {
		return
	}
	old, ok := apply.Migrated(object, w.Apply)
	if !ok {
		return
	}
	next := w.Request
	next.OldObject, next.Admission = old, nil
	if again, err := Validate(w.ctx, next); err == nil && again.Allowed {
		res.Object = w.persisted(again.Object)
	}
}
