package fakeclient

import (
	"maps"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/celadon-cel/celadon/engine"
)

// finish sets the fields that only a server sets, and persists the result of a request if it
// differs from the stored object. It returns the object as a read would.
func (s *server) finish(c *call, req engine.Request, res *engine.Result, managed []any) (map[string]any, error) {
	live := req.OldObject
	obj := runtime.DeepCopyJSON(res.Stored)
	u := &unstructured.Unstructured{Object: obj}
	metadata := obj["metadata"].(map[string]any)
	if live == nil {
		metadata["uid"] = string(uuid.NewUUID())
		metadata["creationTimestamp"] = metav1.Now().UTC().Format(timeFormat)
	} else {
		u.SetResourceVersion((&unstructured.Unstructured{Object: live}).GetResourceVersion())
	}
	delete(metadata, "managedFields")
	if len(managed) > 0 {
		metadata["managedFields"] = managed
	}
	switch {
	case live != nil && same(obj, c.kind.store.get(c.namespace, c.name)):
		return live, nil
	case live != nil && u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0:
		if !c.dryRun {
			s.remove(c)
		}
		// The object is gone, so a server returns the object that was to be written.
		p, err := s.prepare(c, req)
		if err != nil {
			return nil, internal(err)
		}
		written := maps.Clone(p.Self)
		written["metadata"] = metadata
		return written, nil
	case c.dryRun:
		if live == nil && c.sent != "" {
			u.SetResourceVersion(c.sent)
		}
	default:
		metadata["resourceVersion"] = s.next()
		c.kind.store.put(runtime.DeepCopyJSON(obj), s.version)
	}
	return s.read(c.kind, c.at.version, obj)
}

// timeFormat is the format of metav1.Time.
const timeFormat = "2006-01-02T15:04:05Z"

// same reports whether two objects are equal, ignoring the times in managedFields.
func same(a, b map[string]any) bool {
	return reflect.DeepEqual(withoutTimes(a), withoutTimes(b))
}

func withoutTimes(obj map[string]any) map[string]any {
	u := (&unstructured.Unstructured{Object: obj}).DeepCopy()
	metadata, _ := u.Object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		if entry, ok := entry.(map[string]any); ok {
			delete(entry, "time")
		}
	}
	return u.Object
}

// update returns the managedFields after a write other than apply.
func (c *call) update(live, obj map[string]any) ([]any, error) {
	m, err := c.kind.managers.Manager(c.at.version, c.at.subresource)
	if err != nil {
		return nil, err
	}
	from := &unstructured.Unstructured{}
	from.SetGroupVersionKind(c.kind.group.WithVersion(c.at.version))
	if live != nil {
		from.Object = runtime.DeepCopyJSON(live)
	}
	to := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(obj)}
	return managedFields(m.UpdateNoErrors(from, to, c.manager)), nil
}

func managedFields(obj runtime.Object) []any {
	metadata, _ := obj.(*unstructured.Unstructured).Object["metadata"].(map[string]any)
	fields, _ := metadata["managedFields"].([]any)
	return fields
}
