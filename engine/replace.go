package engine

import (
	"fmt"

	"github.com/celadon-cel/celadon/engine/x/schema"
)

func (w *write) replace() {
	w.resetStatus()
	fillUpdate(w.obj, w.old)
	if w.ownersChanged = !sameBut("", w.obj.Object, w.old.Object); w.ownersChanged {
		w.obj.SetGeneration(w.old.GetGeneration() + 1)
		return
	}
	w.ownersChanged = w.seesManaged() && !sameOwnedMetadata(w.obj.Object, w.old.Object)
}

func (w *write) resetStatus() {
	if !w.version.hasStatus {
		return
	}
	delete(w.obj.Object, "status")
	if status, ok := w.old.Object["status"]; ok {
		w.obj.Object["status"] = status
	}
}

func (w *write) updateStatus() error {
	if !w.version.hasStatus {
		return fmt.Errorf("request: subresource status: version %s does not have it", w.version.name)
	}
	// The server tracks the manager of the sent object before it restores all fields but the status.
	w.ownersChanged = w.seesManaged() && !w.engine.server.sameStatusOwners(w.version, w.obj.Object, w.old.Object)
	status, ok := w.obj.Object["status"]
	w.kind = w.obj.GroupVersionKind().GroupKind()
	w.obj = owned(w.old.Object, w.old.Object)
	w.obj.SetManagedFields(nil)
	delete(w.obj.Object, "status")
	if ok {
		w.obj.Object["status"] = status
	}
	return nil
}

// The server does not count changes of metadata.
func sameBut(out string, obj, old map[string]any) bool {
	if (obj["metadata"] == nil) != (old["metadata"] == nil) || without(out, obj) != without(out, old) {
		return false
	}
	for name, v := range obj {
		if was, ok := old[name]; name != "metadata" && name != out && (!ok || !schema.Equal(v, was)) {
			return false
		}
	}
	return true
}

func without(name string, obj map[string]any) int {
	if _, ok := obj[name]; ok {
		return len(obj) - 1
	}
	return len(obj)
}
