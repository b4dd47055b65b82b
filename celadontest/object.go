package celadontest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

// object encodes Go values as JSON, as a client does.
func (c *CRDs) object(v any) (map[string]any, error) {
	switch v := v.(type) {
	case string:
		return document([]byte(v))
	case []byte:
		return document(v)
	}
	if r := reflect.ValueOf(v); !r.IsValid() || slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Map}, r.Kind()) && r.IsNil() {
		return nil, errors.New("no object given: nil")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("object of Go type %T: %w", v, err)
	}
	obj, err := engine.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("object of Go type %T: %w", v, err)
	}
	if kind, _ := obj["kind"].(string); kind != "" {
		return obj, nil
	}
	gvk, err := c.kindOf(v)
	if err != nil {
		return nil, fmt.Errorf("object of Go type %T: %w", v, err)
	}
	obj["apiVersion"], obj["kind"] = gvk.ToAPIVersionAndKind()
	return obj, nil
}

func document(text []byte) (obj map[string]any, err error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF) && obj == nil:
			return nil, errors.New("no object in the string")
		case errors.Is(err, io.EOF):
			return obj, nil
		case err != nil:
			return nil, err
		}
		v, duplicate, err := decode.Decode(doc)
		switch {
		case err != nil:
			return nil, fmt.Errorf("not YAML: %w", err)
		case duplicate != nil:
			return nil, duplicate
		case v == nil:
			continue // empty or only comments
		case obj != nil:
			return nil, errors.New("two objects in the string: want one")
		}
		var ok bool
		if obj, ok = v.(map[string]any); !ok {
			return nil, fmt.Errorf("a %T in the string: want an object", v)
		}
	}
}

func (c *CRDs) kindOf(v any) (gvk schema.GroupVersionKind, err error) {
	if obj, ok := v.(runtime.Object); ok && c.config.Scheme != nil {
		kinds, _, err := c.config.Scheme.ObjectKinds(obj)
		if err != nil {
			return gvk, err
		}
		return kinds[0], nil
	}
	t := reflect.TypeOf(v)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, untyped := v.(runtime.Unstructured); untyped || t.Kind() != reflect.Struct {
		return gvk, errors.New("it has no kind: set apiVersion and kind")
	}
	version, _, _ := strings.Cut(t.String(), ".")
	return c.kindNamed(t.Name(), version)
}

// name is the name of a struct, and version is the name of its package.
func (c *CRDs) kindNamed(name, version string) (gvk schema.GroupVersionKind, err error) {
	var named, all []schema.GroupVersionKind
	crds := 0
	for _, crd := range c.catalog.Names() {
		e := c.catalog.Named(crd)
		if e.Kind.Kind != name {
			continue
		}
		crds++
		for i := range e.CRD.Spec.Versions {
			v := &e.CRD.Spec.Versions[i]
			if v.Served {
				all = append(all, e.Kind.WithVersion(v.Name))
			}
			if v.Served && v.Name == version {
				named = append(named, e.Kind.WithVersion(v.Name))
			}
		}
	}
	switch {
	case len(named) == 1:
		return named[0], nil
	case crds > 1:
		return gvk, fmt.Errorf("several CRDs have kind %s: set the object's TypeMeta, or Config.Scheme", name)
	case len(all) == 1:
		return all[0], nil
	}
	return gvk, fmt.Errorf("no CRD has kind %s and serves version %q (the name of the object's package): set its TypeMeta, or Config.Scheme", name, version)
}

func (c *CRDs) compiled(kind schema.GroupKind) (name string, compiled *engine.Engine, err error) {
	e := c.catalog.Find(kind)
	if e == nil {
		return "", nil, fmt.Errorf("no CRD for %s (got CRDs for %s)", kind, strings.Join(c.catalog.Names(), ", "))
	}
	compiled, err = e.Engine()
	if err != nil {
		err = fmt.Errorf("CRD %s: %w", e.Name, err)
	}
	return e.Name, compiled, err
}
