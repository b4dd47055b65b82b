package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	appsv1 "k8s.io/kubernetes/pkg/apis/apps/v1"
	autoscalingv2 "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	batchv1 "k8s.io/kubernetes/pkg/apis/batch/v1"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	networkingv1 "k8s.io/kubernetes/pkg/apis/networking/v1"
	policyv1 "k8s.io/kubernetes/pkg/apis/policy/v1"
	rbacv1 "k8s.io/kubernetes/pkg/apis/rbac/v1"
)

var recorded = []gvk{
	{"", "v1", "ConfigMap"}, {"", "v1", "Namespace"}, {"", "v1", "PersistentVolume"}, {"", "v1", "PersistentVolumeClaim"},
	{"", "v1", "Pod"}, {"", "v1", "Secret"}, {"", "v1", "Service"}, {"", "v1", "ServiceAccount"},
	{"apps", "v1", "DaemonSet"}, {"apps", "v1", "Deployment"}, {"apps", "v1", "ReplicaSet"}, {"apps", "v1", "StatefulSet"},
	{"autoscaling", "v2", "HorizontalPodAutoscaler"}, {"batch", "v1", "CronJob"}, {"batch", "v1", "Job"},
	{"networking.k8s.io", "v1", "Ingress"}, {"networking.k8s.io", "v1", "NetworkPolicy"}, {"policy", "v1", "PodDisruptionBudget"},
	{"rbac.authorization.k8s.io", "v1", "Role"}, {"rbac.authorization.k8s.io", "v1", "RoleBinding"},
}

// samples is the number of objects of a kind, per round, that decide which defaults are
// unconditional.
const samples = 3000

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme,
		networkingv1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	return s
}

// recordDefaults adds the unconditional defaults to f, and returns the list of the conditional defaults.
func recordDefaults(f *file) (conditional []byte, err error) {
	var list bytes.Buffer
	s := scheme()
	for _, id := range recorded {
		i := slices.IndexFunc(f.Kinds, func(k *kind) bool { return k.gvk() == id })
		if i < 0 {
			return nil, fmt.Errorf("no schema of %v", id)
		}
		r := newRecorder(s, f, f.Kinds[i])
		if err := r.record(); err != nil {
			return nil, fmt.Errorf("%s: %w", id.Kind, err)
		}
		f.Kinds[i].Defaults = r.defaults
		for _, path := range slices.Sorted(maps.Keys(r.conditional)) {
			fmt.Fprintf(&list, "%s %s%s\n", schema.GroupVersion{Group: id.Group, Version: id.Version}, id.Kind, path)
		}
	}
	return list.Bytes(), nil
}

// A recorder finds the defaults of a kind. Paths are as in engine/x/builtin.
type recorder struct {
	scheme      *runtime.Scheme
	file        *file
	kind        *kind
	defaults    map[string]any  // unconditional
	conditional map[string]bool // paths of the others
}

func newRecorder(s *runtime.Scheme, f *file, k *kind) *recorder {
	return &recorder{scheme: s, file: f, kind: k, defaults: map[string]any{}, conditional: map[string]bool{}}
}

// record first defaults objects that contain nothing but one empty object at some path, and records the fields that
// appear in it as defaults. It then drops the defaults that random objects show to be conditional.
func (r *recorder) record() error {
	if err := r.probe(&definition{Ref: r.kind.Schema}, "", func(v any) any { return v }, nil); err != nil {
		return err
	}
	for seed := uint64(1); ; seed++ {
		wrong := 0
		g := r.sampler(seed)
		for range samples {
			object := g.object()
			got, want, err := r.both(object)
			if err != nil {
				return err
			}
			for path, theirs := range differences(r.root(), r.file, got, want) {
				if _, ours := r.defaults[path]; ours && !theirs {
					wrong++
					delete(r.defaults, path)
				}
				r.conditional[path] = true
			}
		}
		if wrong == 0 {
			return nil
		}
	}
}

func (r *recorder) root() *definition { return &definition{Ref: r.kind.Schema} }

func (f *file) resolve(d *definition) *definition {
	for d.Ref != "" {
		d = f.Schemas[d.Ref]
	}
	return d
}

// probe records the candidates of the object that wrap puts at path, and of the objects below it.
func (r *recorder) probe(d *definition, path string, wrap func(any) any, open []string) error {
	if d.Ref != "" {
		if slices.Contains(open, d.Ref) {
			return nil
		}
		open = append(open[:len(open):len(open)], d.Ref)
		d = r.file.resolve(d)
	}
	switch {
	case d.Items != nil:
		return r.probe(d.Items, path+"[]", func(v any) any { return wrap([]any{v}) }, open)
	case d.Values != nil:
		return r.probe(d.Values, path+"{}", func(v any) any { return wrap(map[string]any{"key": v}) }, open)
	case d.Properties == nil:
		return nil
	}
	out, err := r.kubernetes(wrap(map[string]any{}).(map[string]any))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for name, v := range at(out, path) {
		if property := d.Properties[name]; property != nil && v != nil && !excluded(path+"."+name) {
			r.defaults[path+"."+name] = r.candidate(property, v)
		}
	}
	for name, property := range d.Properties {
		if excluded(path + "." + name) {
			continue
		}
		if err := r.probe(property, path+"."+name, func(v any) any { return wrap(map[string]any{name: v}) }, open); err != nil {
			return err
		}
	}
	return nil
}

// candidate returns the default for a field that got v. The fields of an object have defaults of
// their own.
func (r *recorder) candidate(d *definition, v any) any {
	if _, ok := v.(map[string]any); ok && r.file.resolve(d).Properties != nil {
		return map[string]any{}
	}
	return v
}

// excluded reports whether no default is recorded for path, because schemas do not describe it.
func excluded(path string) bool {
	return path == ".apiVersion" || path == ".kind" || path == ".metadata"
}

// at returns the object at path, in which lists have one item and maps one key.
func at(v any, path string) map[string]any {
	for path != "" {
		switch {
		case strings.HasPrefix(path, "[]"):
			items, _ := v.([]any)
			if len(items) == 0 {
				return nil
			}
			v, path = items[0], path[2:]
		case strings.HasPrefix(path, "{}"):
			values, _ := v.(map[string]any)
			v, path = values["key"], path[2:]
		default:
			end := len(path)
			if i := strings.IndexAny(path[1:], ".[{"); i >= 0 {
				end = i + 1
			}
			fields, _ := v.(map[string]any)
			v, path = fields[path[1:end]], path[end:]
		}
	}
	fields, _ := v.(map[string]any)
	return fields
}

// kubernetes returns object as a server decodes and defaults it, without fields that only encoding adds.
func (r *recorder) kubernetes(object map[string]any) (map[string]any, error) {
	typed, err := r.scheme.New(schema.GroupVersionKind{Group: r.kind.Group, Version: r.kind.Version, Kind: r.kind.Kind})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, typed); err != nil {
		return nil, err
	}
	plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, err
	}
	r.scheme.Default(typed)
	defaulted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, err
	}
	r.dropEncoded(r.root(), object, plain, defaulted)
	return defaulted, nil
}

// dropEncoded removes the fields from defaulted that are only there because their Go type cannot be
// absent: zero values, and required objects. As defaults, they would hide that a required field is
// missing. plain is the object without defaults.
func (r *recorder) dropEncoded(d *definition, object, plain, defaulted any) {
	d = r.file.resolve(d)
	switch defaulted := defaulted.(type) {
	case []any:
		object, _ := object.([]any)
		plain, _ := plain.([]any)
		for i := range min(len(object), len(plain), len(defaulted)) {
			r.dropEncoded(d.Items, object[i], plain[i], defaulted[i])
		}
	case map[string]any:
		object, _ := object.(map[string]any)
		plain, _ := plain.(map[string]any)
		for name, v := range defaulted {
			given, isGiven := object[name]
			encoded, isEncoded := plain[name]
			below := cmp.Or(d.Properties[name], d.Values)
			switch {
			case below == nil:
			case !isGiven && isEncoded && (isZero(v) || slices.Contains(d.Required, name)):
				delete(defaulted, name)
			default:
				r.dropEncoded(below, given, encoded, v)
			}
		}
	}
}

func isZero(v any) bool {
	return v == nil || v == "" || v == false || v == int64(0) || v == float64(0) || v == "0"
}

func (r *recorder) both(object map[string]any) (got, want map[string]any, err error) {
	if want, err = r.kubernetes(object); err != nil {
		return nil, nil, err
	}
	got = runtime.DeepCopyJSON(object)
	r.fill(r.root(), "", got)
	return got, want, nil
}

func (r *recorder) fill(d *definition, path string, v any) {
	d = r.file.resolve(d)
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			r.fill(d.Items, path+"[]", item)
		}
	case map[string]any:
		for name := range d.Properties {
			if _, ok := v[name]; !ok && r.defaults[path+"."+name] != nil {
				v[name] = runtime.DeepCopyJSONValue(r.defaults[path+"."+name])
			}
		}
		for name, below := range v {
			if property := d.Properties[name]; property != nil {
				r.fill(property, path+"."+name, below)
			} else if d.Values != nil {
				r.fill(d.Values, path+"{}", below)
			}
		}
	}
}

// differences returns the paths at which got and want differ, and for each path whether only want has a value.
func differences(root *definition, f *file, got, want map[string]any) map[string]bool {
	found := map[string]bool{}
	compare(root, f, "", got, want, found)
	return found
}

func compare(d *definition, f *file, path string, got, want any, found map[string]bool) {
	d = f.resolve(d)
	gotFields, isObject := got.(map[string]any)
	wantFields, wantObject := want.(map[string]any)
	if isObject && wantObject && (d.Properties != nil || d.Values != nil) {
		for _, name := range fieldNames(gotFields, wantFields) {
			below, to := d.Values, path+"{}"
			if property := d.Properties[name]; property != nil {
				below, to = property, path+"."+name
			}
			gotValue, inGot := gotFields[name]
			wantValue, inWant := wantFields[name]
			switch {
			case below == nil || excluded(to):
			case inGot && inWant:
				compare(below, f, to, gotValue, wantValue, found)
			default:
				found[to] = inWant
			}
		}
		return
	}
	gotItems, isList := got.([]any)
	wantItems, wantList := want.([]any)
	if isList && wantList && d.Items != nil && len(gotItems) == len(wantItems) {
		for i := range gotItems {
			compare(d.Items, f, path+"[]", gotItems[i], wantItems[i], found)
		}
		return
	}
	if !reflect.DeepEqual(got, want) {
		found[path] = false
	}
}

func fieldNames(a, b map[string]any) []string {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func (r *recorder) sampler(seed uint64) *sampler {
	return &sampler{file: r.file, root: r.root(), rand: rand.New(rand.NewPCG(seed, 0))}
}
