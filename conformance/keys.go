package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// keysCRD has nodes in which an object can have an unexpected key, and rules that show keys.
const keysCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: keys.example.com}
spec:
  group: example.com
  names: {kind: Key, listKind: KeyList, plural: keys, singular: key}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              a: {type: string}
              map:
                type: object
                additionalProperties: {type: object, properties: {n: {type: integer, minimum: 0}}}
              open:
                type: object
                x-kubernetes-preserve-unknown-fields: true
                properties: {known: {type: object, properties: {b: {type: string}}}}
              embedded: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}
              items:
                type: array
                items: {type: object, properties: {c: {type: string}}}
              texts:
                type: object
                maxProperties: 5
                additionalProperties: {type: string, maxLength: 3}
                x-kubernetes-validations:
                - {rule: "self.all(k, k != 'bad')"}
              tagged:
                type: object
                maxProperties: 5
                additionalProperties:
                  type: string
                  maxLength: 20
                  x-kubernetes-validations: [{rule: "self != 'no'", messageExpression: "'not ' + self"}]
          status: {type: object, properties: {s: {type: string}}}
`

var keyParts = []string{
	"a", "b.c", "d e", "0", "-", "_", "/", ".", "~", "%", "%s", "%q", "[0]", "[", "]", "'", `"`, `\`, `\n`, "`", "<", "&", "$", "{", "}", ":", ",", "*",
	"\t", "\n", "\r", "\x00", "\x01", "\x1b[31m", "\x7f", "\u0080", "\u0085", "\u009b", "\u00a0", "\u00ad", "\u0301", "\u200b", "\u200d", "\u2028", "\u2029", "\u202e", "\ufeff", "\ufffd",
	"é", "ß", "日本", "🙂", "\U000e0001", "\U0010ffff", "spec", "metadata", "bad",
}

// Keys returns n writes of objects with random keys, for Sweep.
func Keys(seed uint64, n int) (*Group, error) {
	crd, err := parseCRD([]byte(keysCRD))
	if err != nil {
		return nil, err
	}
	g := &Group{CRD: &CRD{Path: "keys", Definition: crd}}
	for i := range n {
		k := keyWriter{rand.New(rand.NewPCG(seed, uint64(i)))}
		c := &Case{
			ID: fmt.Sprintf("keys/%d/%d", seed, i), Project: "keys", CRD: g.CRD, Version: "v1",
			FieldValidation: []string{"", "Warn", "Strict", "Ignore"}[k.IntN(4)],
		}
		c.Object = k.object()
		if k.IntN(4) == 0 {
			// An existing violation that the update does not change is a warning.
			c.OldObject, c.Ratcheting = c.Object, true
			c.Object = decoded(c.Object)
			k.change(c.Object)
			c.Object = decoded(c.Object)
		}
		if c.OldObject == nil && k.IntN(5) == 0 {
			if c.Raw, err = k.twice(c.Object); err != nil {
				return nil, err
			}
		}
		g.Cases = append(g.Cases, c)
	}
	return g, nil
}

type keyWriter struct{ *rand.Rand }

func (k keyWriter) key() string {
	var b strings.Builder
	for range 1 + k.IntN(4) {
		b.WriteString(keyParts[k.IntN(len(keyParts))])
	}
	if k.IntN(20) == 0 {
		return strings.Repeat(b.String(), 1+k.IntN(120))
	}
	return b.String()
}

func (k keyWriter) object() map[string]any {
	spec := map[string]any{"a": "x"}
	object := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Key",
		"metadata": map[string]any{"name": "a", "namespace": "default"}, "spec": spec,
	}
	for range 1 + k.IntN(3) {
		k.change(object)
	}
	return decoded(object)
}

func (k keyWriter) change(object map[string]any) {
	spec := object["spec"].(map[string]any)
	key := k.key()
	embedded := map[string]any{"apiVersion": "v1", "kind": "X", "metadata": map[string]any{"name": "x"}, "spec": map[string]any{}}
	switch k.IntN(14) {
	case 0:
		if object[key] == nil { // key may be "spec"
			object[key] = 1
		}
	case 1:
		spec[key] = 1
	case 2:
		object["metadata"].(map[string]any)[key] = "x"
	case 3:
		spec["map"] = map[string]any{key: map[string]any{"n": k.IntN(3) - 1}}
	case 4:
		spec["map"] = map[string]any{key: map[string]any{k.key(): 1}}
	case 5:
		spec["open"] = map[string]any{key: 1, "known": map[string]any{k.key(): 1}}
	case 6:
		embedded[key] = 1
		spec["embedded"] = embedded
	case 7:
		embedded["metadata"].(map[string]any)[key] = "x"
		spec["embedded"] = embedded
	case 8:
		embedded["spec"].(map[string]any)[key] = 1
		spec["embedded"] = embedded
	case 9:
		spec["items"] = []any{map[string]any{key: 1}, map[string]any{"c": "x", k.key(): nil}}
	case 10:
		spec["texts"] = map[string]any{key: "abcd"[:k.IntN(5)], k.key(): "x", "bad": "y"}
	case 11:
		spec["tagged"] = map[string]any{key: "no", k.key(): "yes"}
	case 12:
		labels := map[string]any{key: k.key()}
		object["metadata"].(map[string]any)[[]string{"labels", "annotations"}[k.IntN(2)]] = labels
	case 13:
		object["metadata"].(map[string]any)["finalizers"] = []any{key}
	}
}

// twice returns a body that contains a random key twice. It removes the namespace from object.
func (k keyWriter) twice(object map[string]any) ([]byte, error) {
	delete(object["metadata"].(map[string]any), "namespace") // the namespace is in the URL
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal(k.key())
	if err != nil {
		return nil, err
	}
	at := []string{"{", `"spec":{`}[k.IntN(2)]
	return bytes.Replace(body, []byte(at), fmt.Appendf(nil, "%s%s:1,%s:2,", at, key, key), 1), nil
}
