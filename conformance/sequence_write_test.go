package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// do gets the current object of the side as live, which is nil or empty if it does not exist.
type write struct {
	text string
	do   func(ctx context.Context, r dynamic.ResourceInterface, live *unstructured.Unstructured) (*unstructured.Unstructured, error)
}

type maker struct {
	*rand.Rand
	q *sequence
}

func (m *maker) one(n int) bool { return m.IntN(n) == 0 }

func oneOf[T any](m *maker, of ...T) T { return of[m.IntN(len(of))] }

func (q *sequence) next(_ context.Context, seed uint64) (*write, error) {
	m := &maker{rand.New(rand.NewPCG(seed, 1)), q}
	sub := []string{}
	if m.one(4) {
		sub = []string{"status"}
	}
	kind := m.IntN(13)
	if len(q.history) == 0 {
		kind = oneOf(m, 0, 0, 0, 9)
	}
	switch {
	case kind < 2:
		return m.create()
	case kind < 5:
		return m.update(sub)
	case kind < 11:
		return m.patch(sub)
	case kind < 12:
		return m.delete(), nil
	}
	return list(), nil
}

// A list is compared by its warnings.
func list() *write {
	return &write{"list", func(ctx context.Context, r dynamic.ResourceInterface, _ *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		_, err := r.List(ctx, metav1.ListOptions{Limit: 1})
		return nil, err
	}}
}

func (m *maker) manager() string { return oneOf(m, "alpha", "beta", "gamma") }

func (m *maker) validation() string { return oneOf(m, "", "Strict", "Warn", "Ignore") }

func (m *maker) dryRun() []string {
	if m.one(10) {
		return []string{metav1.DryRunAll}
	}
	return nil
}

func (m *maker) create() (*write, error) {
	obj := m.object()
	o := metav1.CreateOptions{FieldManager: m.manager(), FieldValidation: m.validation(), DryRun: m.dryRun()}
	if m.one(12) {
		obj.SetResourceVersion("5")
	}
	text, err := json.Marshal(obj.Object)
	return &write{fmt.Sprintf("create %s %+v", text, o), func(ctx context.Context, r dynamic.ResourceInterface, _ *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return r.Create(ctx, obj.DeepCopy(), o)
	}}, err
}

func (m *maker) update(sub []string) (*write, error) {
	o := metav1.UpdateOptions{FieldManager: m.manager(), FieldValidation: m.validation(), DryRun: m.dryRun()}
	fresh := m.object()
	fields := m.fields(3)
	version := m.IntN(12)
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	do := func(ctx context.Context, r dynamic.ResourceInterface, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		obj := live
		if obj == nil || obj.Object == nil {
			obj = fresh.DeepCopy()
		}
		var change map[string]any
		if err := json.Unmarshal(body, &change); err != nil {
			return nil, err
		}
		merge(obj.Object, change)
		switch version {
		case 0:
			obj.SetResourceVersion("")
		case 1:
			obj.SetResourceVersion("1")
		case 2:
			obj.SetManagedFields(nil)
		case 3:
			obj.SetUID("x")
		case 4:
			obj.SetGeneration(77)
		case 5:
			obj.Object["metadata"].(map[string]any)["managedFields"] = []any{}
		}
		return r.Update(ctx, obj, o, sub...)
	}
	return &write{fmt.Sprintf("update %v %s version %d %+v", sub, body, version, o), do}, nil
}

func merge(into, fields map[string]any) {
	for name, v := range fields {
		below, isMap := v.(map[string]any)
		was, wasMap := into[name].(map[string]any)
		switch {
		case v == nil:
			delete(into, name)
		case isMap && wasMap:
			merge(was, below)
		default:
			into[name] = v
		}
	}
}

func (m *maker) patch(sub []string) (*write, error) {
	kind := oneOf(m, patchTypes...)
	o := metav1.PatchOptions{FieldManager: m.manager(), FieldValidation: m.validation(), DryRun: m.dryRun()}
	var body any
	switch kind {
	case types.JSONPatchType:
		body = m.operations()
	case types.MergePatchType:
		fields := m.fields(4)
		if m.one(15) {
			merge(fields, map[string]any{"metadata": map[string]any{"resourceVersion": "1"}})
		}
		body = fields
	default:
		obj := m.object()
		if m.one(2) {
			obj.Object["spec"] = m.fields(1)["spec"]
		}
		if m.one(15) {
			obj.SetResourceVersion("1")
		}
		if len(obj.GetFinalizers()) == 0 {
			// etcd keeps an empty list as sent, and the next write drops it, which changes the
			// resourceVersion. The fake client does not reproduce that.
			obj.SetFinalizers(nil)
		}
		if obj.Object["spec"] == nil {
			delete(obj.Object, "spec")
		}
		body = obj.Object
		if o.Force = new(m.one(2)); m.one(20) {
			o.Force = nil
		}
	}
	data, err := json.Marshal(body)
	force := o.Force != nil && *o.Force
	return &write{fmt.Sprintf("%s %v %s force %v %+v", kind, sub, data, force, o), func(ctx context.Context, r dynamic.ResourceInterface, _ *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return r.Patch(ctx, m.q.name(), kind, data, o, sub...)
	}}, err
}

func (m *maker) delete() *write {
	o := metav1.DeleteOptions{DryRun: m.dryRun()}
	if m.one(3) {
		o.PropagationPolicy = new(oneOf(m, metav1.DeletePropagationOrphan, metav1.DeletePropagationForeground, metav1.DeletePropagationBackground))
	}
	switch m.IntN(12) {
	case 0:
		o.Preconditions = &metav1.Preconditions{UID: new(types.UID("x"))}
	case 1:
		o.Preconditions = &metav1.Preconditions{ResourceVersion: new("1")}
	case 2:
		o.GracePeriodSeconds = new(int64(30))
	case 3:
		//lint:ignore SA1019 clients still send it
		o.OrphanDependents = new(m.one(2))
	}
	return &write{fmt.Sprintf("delete %+v", o), func(ctx context.Context, r dynamic.ResourceInterface, _ *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return nil, r.Delete(ctx, m.q.name(), o)
	}}
}

func (m *maker) object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: m.fields(5)}
	u.SetAPIVersion(m.q.crd.Spec.Group + "/" + m.q.version)
	u.SetKind(m.q.crd.Spec.Names.Kind)
	u.SetName(m.q.name())
	if m.q.crd.Spec.Scope == "Namespaced" {
		u.SetNamespace("default")
	}
	data, err := json.Marshal(u.Object) // converts numbers to JSON's types
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	if err != nil {
		panic(err)
	}
	return u
}

func (m *maker) fields(n int) map[string]any {
	out := map[string]any{}
	if spec := m.spec(n); len(spec) > 0 || m.one(4) {
		out["spec"] = spec
	}
	if m.one(3) {
		out["status"] = m.status()
	}
	metadata := map[string]any{}
	if m.one(4) {
		metadata["labels"] = map[string]any{oneOf(m, "a", "b"): oneOf(m, "1", "2")}
	}
	if m.one(6) {
		metadata["annotations"] = map[string]any{oneOf(m, "a", "b/c"): oneOf(m, "1", "2")}
	}
	if m.one(6) {
		metadata["finalizers"] = oneOf(m, []any{"example.com/a"}, []any{}, []any{"example.com/a", "b"}, []any{"example.com/b"})
	}
	if m.one(12) {
		owner := map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": oneOf(m, "u1", "u2")}
		metadata["ownerReferences"] = oneOf(m, []any{owner}, []any{owner, owner})
	}
	if len(metadata) > 0 {
		out["metadata"] = metadata
	}
	if m.one(25) {
		out["other"] = map[string]any{"a": true}
	}
	return out
}

func (m *maker) spec(n int) map[string]any {
	spec := map[string]any{}
	for range m.IntN(n + 1) {
		name := oneOf(m, "name", "seats", "speed", "port", "color", "crew", "flags", "legs", "tags", "engine", "cargo", "motto", "sails", "unknown")
		if name == "unknown" && !m.one(3) {
			continue
		}
		spec[name] = m.value(name)
	}
	return spec
}

func (m *maker) value(name string) any {
	if m.one(40) {
		return oneOf[any](m, nil, "x", 1, []any{}, map[string]any{})
	}
	switch name {
	case "name":
		return oneOf(m, "nina", "nina", "pinta", "much too long")
	case "seats":
		return oneOf(m, 1, 2, 3, 0)
	case "speed":
		return oneOf[any](m, 1, 1.5, 2.0)
	case "port":
		return oneOf[any](m, 1, "a")
	case "color":
		return oneOf[any](m, "red", "green", nil, "blue")
	case "crew":
		return m.crew()
	case "flags":
		return oneOf(m, []any{"a"}, []any{"b", "a"}, []any{"a", "a"}, []any{})
	case "legs":
		return oneOf(m, []any{}, []any{map[string]any{"to": "x"}}, []any{map[string]any{}, map[string]any{"from": "y"}})
	case "tags":
		return map[string]any{oneOf(m, "a", "b", "c d"): oneOf[any](m, "x", "y", "long text", nil)}
	case "engine":
		return oneOf(m, map[string]any{"power": 1}, map[string]any{"power": 2, "fuel": "oil"}, map[string]any{})
	case "cargo":
		return oneOf(m, map[string]any{"a": []any{1, "b"}}, map[string]any{"b": map[string]any{"c": nil}}, map[string]any{"a": 1})
	case "motto":
		return oneOf[any](m, "off", "on", nil)
	case "sails":
		return m.IntN(3)
	}
	return oneOf[any](m, 1, "x")
}

func (m *maker) crew() []any {
	crew := []any{}
	for range m.IntN(4) {
		one := map[string]any{"name": oneOf(m, "a", "b", "c", "d")}
		if m.one(2) {
			one["rank"] = m.IntN(3)
		}
		if m.one(3) {
			one["role"] = oneOf(m, "cook", "captain")
		}
		if m.one(30) {
			delete(one, "name")
		}
		crew = append(crew, one)
	}
	return crew
}

func (m *maker) status() map[string]any {
	status := map[string]any{}
	if m.one(2) {
		status["at"] = oneOf(m, "sea", "home", "lost", "far away")
	}
	if m.one(2) {
		status["log"] = []any{map[string]any{"day": m.IntN(3), "text": oneOf(m, "x", "y")}}
	}
	if m.one(20) {
		status["unknown"] = 1
	}
	return status
}

func (m *maker) operations() []any {
	operations := []any{}
	for range 1 + m.IntN(2) {
		op := map[string]any{"op": oneOf(m, "add", "replace", "remove", "test", "copy", "add")}
		name := oneOf(m, "seats", "crew", "flags", "tags", "motto", "engine")
		op["path"] = "/spec/" + name
		switch {
		case m.one(6):
			op["path"], op["value"] = "/spec/crew/-", map[string]any{"name": oneOf(m, "a", "e")}
		case m.one(6):
			op["path"], op["value"] = "/status/at", oneOf(m, "sea", "lost")
		case m.one(8):
			op["path"], op["value"] = "/metadata/labels", map[string]any{"a": "3"}
		case op["op"] == "copy":
			op["from"], op["path"] = "/spec/seats", "/spec/speed"
		case op["op"] != "remove":
			op["value"] = m.value(name)
		}
		if m.one(20) {
			op["extra"] = 1
		}
		operations = append(operations, op)
	}
	return operations
}
