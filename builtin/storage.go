package builtin

import (
	"context"
	"reflect"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// storedVersion returns "1" if the old object has no valid version.
func (w *write) storedVersion() string {
	given, _ := metadata(w.OldObject)["resourceVersion"].(string)
	if n, err := strconv.ParseUint(given, 10, 64); err == nil && n > 0 {
		return given
	}
	return "1"
}

type writeKey struct{}

// writeOf returns an empty write for a context without one.
func writeOf(ctx context.Context) *write {
	if w, ok := ctx.Value(writeKey{}).(*write); ok {
		return w
	}
	return &write{}
}

// A requestStorage implements the storage of a resource. It has no state: a request finds only the
// old object in its context, and a written object is returned and forgotten.
type requestStorage struct {
	storage.Interface // nil: nothing here watches or counts
	codec             runtime.Codec
}

// restOptions makes the API server's registries use a requestStorage. It implements generic.RESTOptionsGetter.
type restOptions struct {
	stored schema.GroupVersion // in which objects are stored
}

func (o restOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	serializer := protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme)
	hub := schema.GroupVersion{Group: o.stored.Group, Version: runtime.APIVersionInternal}
	codec := legacyscheme.Codecs.CodecForVersions(serializer, serializer, o.stored, hub)
	decorator := func(
		*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object,
		func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		return requestStorage{codec: codec}, func() {}, nil
	}
	return generic.RESTOptions{
		StorageConfig:  &storagebackend.ConfigForResource{},
		Decorator:      decorator,
		ResourcePrefix: prefix(resource),
	}, nil
}

// prefix returns the prefix of the keys of a resource in etcd. Messages about conflicts contain it.
func prefix(resource schema.GroupResource) string {
	switch resource {
	case schema.GroupResource{Resource: "replicationcontrollers"}:
		return "/controllers"
	case schema.GroupResource{Resource: "endpoints"}:
		return "/services/endpoints"
	case schema.GroupResource{Resource: "nodes"}:
		return "/minions"
	case schema.GroupResource{Resource: "services"}:
		return "/services/specs"
	case schema.GroupResource{Group: "networking.k8s.io", Resource: "ingresses"}:
		return "/ingress"
	}
	return "/" + resource.Resource
}

func (requestStorage) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (requestStorage) ReadinessCheck() error { return nil }

func (s requestStorage) Create(ctx context.Context, _ string, obj, out runtime.Object, _ uint64) error {
	return s.put(ctx, obj, out)
}

func (s requestStorage) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	old := writeOf(ctx).old
	if old == nil || reflect.TypeOf(old) != reflect.TypeOf(out) {
		if opts.IgnoreNotFound {
			return runtime.SetZeroValue(out)
		}
		return storage.NewKeyNotFoundError(key, 0)
	}
	set(out, old.DeepCopyObject())
	return nil
}

func (requestStorage) GetList(context.Context, string, storage.ListOptions, runtime.Object) error {
	return nil
}

func (s requestStorage) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions,
) error {
	if err := s.Get(ctx, key, storage.GetOptions{}, out); err != nil {
		return err
	}
	if err := preconditions.Check(key, out); err != nil {
		return err
	}
	return validate(ctx, out)
}

func (s requestStorage) GuaranteedUpdate(
	ctx context.Context, key string, out runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions,
	update storage.UpdateFunc, _ runtime.Object,
) error {
	existing := reflect.New(reflect.TypeOf(out).Elem()).Interface().(runtime.Object)
	if err := s.Get(ctx, key, storage.GetOptions{IgnoreNotFound: ignoreNotFound}, existing); err != nil {
		return err
	}
	if err := preconditions.Check(key, existing); err != nil {
		return err
	}
	obj, _, err := update(existing, storage.ResponseMeta{ResourceVersion: 1})
	if err != nil {
		return err
	}
	return s.put(ctx, obj, out)
}

// put sets out to obj as a read after the write returns it: encoded in its stored version, which
// makes empty lists null, and decoded with the defaults of that version. If the request has
// NoObject, put sets out to obj itself.
func (s requestStorage) put(ctx context.Context, obj, out runtime.Object) error {
	if writeOf(ctx).NoObject {
		set(out, obj)
		return nil
	}
	data, err := runtime.Encode(s.codec, obj)
	if err != nil {
		return err
	}
	_, _, err = s.codec.Decode(data, nil, out)
	return err
}

func set(out, obj runtime.Object) { reflect.ValueOf(out).Elem().Set(reflect.ValueOf(obj).Elem()) }
