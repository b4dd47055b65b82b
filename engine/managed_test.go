package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

const tracked = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: gizmos, singular: gizmo, kind: Gizmo, listKind: GizmoList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: self == oldSelf}]
        properties:
          more: {type: string}
          spec: {type: object, properties: {a: {type: integer}}}
`

// The conformance cases managed-fields-status* check the same on a real server.
func TestManagedFieldsOfStatusWrites(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, tracked)
	head := func(metadata, body string) map[string]any {
		return object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, `+metadata+`}`+body+`}`)
	}
	for name, tt := range map[string]struct {
		old, body, requested string
		same                 bool
	}{
		"hidden":        {`resourceVersion: "2"`, `, more: a`, `, more: b`, false},
		"shown":         {`resourceVersion: "2", managedFields: [{manager: m, operation: Update, apiVersion: example.org/v1, fieldsType: FieldsV1, fieldsV1: {"f:more": {}}}]`, `, more: a`, `, more: b`, false},
		"field away":    {`resourceVersion: "2"`, `, more: a`, ``, false},
		"none":          {`resourceVersion: "2", managedFields: []`, `, more: a`, `, more: b`, true},
		"from a file":   {`labels: {}`, `, more: a`, `, more: b`, true},
		"nothing noted": {`resourceVersion: "2"`, ``, `, more: b`, true},
		"label noted":   {`resourceVersion: "2", labels: {a: b}`, ``, `, more: b`, false},
		"only spec":     {`resourceVersion: "2"`, `, spec: {a: 1}`, `, spec: {a: 2}`, true},
		"unchanged":     {`resourceVersion: "2"`, `, more: a`, `, more: a`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := e.Validate(t.Context(), engine.Request{
				Object: head(`resourceVersion: "2"`, tt.requested), OldObject: head(tt.old, tt.body), Subresource: "status",
			})
			if err != nil || res.Allowed != tt.same {
				t.Errorf("self == oldSelf is %v: want %v (%v)", res != nil && res.Allowed, tt.same, err)
			}
		})
	}
}

func TestManagedFieldsOfMetadata(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, tracked)
	for name, tt := range map[string]struct {
		old, metadata string
		same          bool
	}{
		"unchanged":          {`labels: {a: b}, finalizers: [x.org/a, x.org/b]`, `labels: {a: b}, finalizers: [x.org/a, x.org/b]`, true},
		"label":              {`labels: {a: b}`, `labels: {a: c}`, false},
		"annotation":         {`annotations: {a: b}`, `annotations: {a: c}`, false},
		"label to finalizer": {`labels: {a: b}`, `finalizers: [x.org/a]`, false},
		"order":              {`finalizers: [x.org/a, x.org/b]`, `finalizers: [x.org/b, x.org/a]`, false},
		"another finalizer":  {`finalizers: [x.org/a]`, `finalizers: [x.org/b]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head := func(metadata string) map[string]any {
				return object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, resourceVersion: "2", `+metadata+`}, more: a}`)
			}
			res, err := e.Validate(t.Context(), engine.Request{Object: head(tt.metadata), OldObject: head(tt.old)})
			if err != nil || res.Allowed != tt.same {
				t.Errorf("self == oldSelf is %v: want %v (%v)", res != nil && res.Allowed, tt.same, err)
			}
		})
	}
}

// The message names the kind that was sent, although the object keeps the kind of the old object.
func TestKindOfStatusWrite(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, tracked)
	old := object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, resourceVersion: "2"}, more: a}`)
	sent := object(t, `{apiVersion: example.org/v1, kind: Other, metadata: {name: a, namespace: d, resourceVersion: "2"}, more: b}`)
	res, err := e.Validate(t.Context(), engine.Request{Object: sent, OldObject: old, Subresource: "status"})
	if err != nil || res.Failure == nil || !strings.HasPrefix(res.Failure.Message, `Other.example.org "a" is invalid`) || res.Failure.Details.Kind != "Other" {
		t.Errorf("got %+v, %v", res, err)
	}
}

const reordered = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: gizmos, singular: gizmo, kind: Gizmo, listKind: GizmoList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: self.metadata == oldSelf.metadata}]
        properties:
          spec: {type: object, properties: {a: {type: integer}}}
          status:
            type: object
            properties:
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              steps: {type: array, items: {type: string}}
              load: {type: number}
              pair: {type: object, x-kubernetes-map-type: atomic, properties: {tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name, port]
                items:
                  type: object
                  properties:
                    name: {type: string}
                    port: {type: integer}
                    tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
`

// Writes that only reorder lists of type set or map do not change managedFields. The conformance cases
// managed-fields-status-* check the same on a real server.
func TestReorderedStatusWrites(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, reordered)
	for name, tt := range map[string]struct {
		old, sent string
		same      bool
	}{
		"set":                   {`{tags: [a, b, c]}`, `{tags: [c, a, b]}`, true},
		"set, another item":     {`{tags: [a, b]}`, `{tags: [c, a]}`, false},
		"set, one item less":    {`{tags: [a, b]}`, `{tags: [b]}`, false},
		"atomic list":           {`{steps: [a, b]}`, `{steps: [b, a]}`, false},
		"set in an atomic map":  {`{pair: {tags: [a, b]}}`, `{pair: {tags: [b, a]}}`, false},
		"list without a schema": {`{open: {tags: [a, b]}}`, `{open: {tags: [b, a]}}`, false},
		"map list":              {`{parts: [{name: a, port: 1, tags: [s, t]}, {name: a}]}`, `{parts: [{name: a}, {name: a, port: 1, tags: [t, s]}]}`, true},
		"map list, another key": {`{parts: [{name: a, port: 1}, {name: a}]}`, `{parts: [{name: a}, {name: a, port: 2}]}`, false},
		"map list, a field":     {`{parts: [{name: a, tags: [x]}]}`, `{parts: [{name: a}]}`, false},
		"number":                {`{load: 1}`, `{load: 1.0}`, true},
		"another number":        {`{load: 1}`, `{load: 1.5}`, false},
		"empty and null":        {`{open: {a: []}}`, `{open: {a: null}}`, false},
		"nothing":               {`{}`, `{tags: []}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gizmo := func(status string) map[string]any {
				return object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, resourceVersion: "2"}, spec: {a: 1}, status: `+status+`}`)
			}
			sent := gizmo(tt.sent)
			if status := sent["status"].(map[string]any); tt.sent == `{load: 1.0}` {
				status["load"] = float64(1)
			}
			res, err := e.Validate(t.Context(), engine.Request{Object: sent, OldObject: gizmo(tt.old), Subresource: "status"})
			if err != nil || res.Allowed != tt.same {
				t.Errorf("managedFields are the same: want %v, got %+v (%v)", tt.same, res, err)
			}
		})
	}
	// The field manager fails on a spec of the wrong type, which no check rejects, and keeps the old managedFields.
	res, err := e.Validate(t.Context(), engine.Request{
		Object:      object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, resourceVersion: "2"}, spec: {a: text}, status: {steps: [b]}}`),
		OldObject:   object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, resourceVersion: "2"}, spec: {a: 1}, status: {steps: [a]}}`),
		Subresource: "status",
	})
	if err != nil || !res.Allowed {
		t.Errorf("with a spec of the wrong type: %+v, %v", res, err)
	}
}

// Rules see a selfLink although it is not stored.
func TestServerFieldsOfUpdates(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, reordered)
	gizmo := func(metadata, spec string) map[string]any {
		return object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d`+metadata+`}, spec: {a: `+spec+`}}`)
	}
	for name, tt := range map[string]struct {
		old, sent, version string
	}{
		"from files":               {``, ``, ``},
		"only the new one has it":  {``, `, resourceVersion: "7"`, ``},
		"of a server":              {`, resourceVersion: "7"`, ``, `7`},
		"labels, not plainly read": {`, finalizers: [example.org/a]`, `, finalizers: [example.org/a]`, ``},
		"selfLink in the old":      {`, selfLink: /a`, ``, ``},
	} {
		res, err := e.Validate(t.Context(), engine.Request{Object: gizmo(tt.sent, "1"), OldObject: gizmo(tt.old, "1")})
		if err != nil || !res.Allowed {
			t.Errorf("%s: %+v, %v", name, res, err)
			continue
		}
		for _, obj := range []map[string]any{res.Object, res.Stored} {
			meta := obj["metadata"].(map[string]any)
			if got, _ := meta["resourceVersion"].(string); got != tt.version || meta["selfLink"] != nil {
				t.Errorf("%s: stored with %v", name, meta)
			}
		}
	}
	res, err := e.Validate(t.Context(), engine.Request{Object: gizmo(`, selfLink: /a`, "1"), OldObject: gizmo(``, "1")})
	if err != nil || res.Allowed {
		t.Errorf("rules do not see selfLink: %+v, %v", res, err)
	}
	e = mustCompile(t, tracked)
	res, err = e.Validate(t.Context(), engine.Request{Object: gizmo(``, "1"), OldObject: gizmo(``, "1")})
	if err != nil || !res.Allowed {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := res.Object["metadata"]; got.(map[string]any)["resourceVersion"] != nil {
		t.Errorf("stored with %v", got)
	}
}

// The field managers of the other versions reject the object, so the servers clear managedFields.
func TestManagedFieldsOfVersions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		old, sent string
		since     int // the first minor that keeps them
	}{
		"duplicates":      {`{tags: [a, a]}`, `{tags: [a, a]}`, 29},
		"duplicate keys":  {`{parts: [{name: a, port: 1}, {name: a, port: 1}]}`, `{parts: [{name: a, port: 1}, {name: a, port: 1}]}`, 29},
		"a missing key":   {`{parts: [{name: a}]}`, `{parts: [{name: a}]}`, 34},
		"another element": {`{tags: [a]}`, `{tags: [a, b]}`, types.Newest + 1},
	} {
		gizmo := func(status string) map[string]any {
			return object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d, resourceVersion: "2"}, spec: {a: 1}, status: `+status+`}`)
		}
		for minor := 28; minor <= types.Newest; minor++ {
			e, err := engine.Compile(crd(t, reordered), engine.Config{KubeVersion: fmt.Sprintf("1.%d", minor)})
			if err != nil {
				t.Fatal(err)
			}
			res, err := e.Validate(t.Context(), engine.Request{Object: gizmo(tt.sent), OldObject: gizmo(tt.old), Subresource: "status"})
			if err != nil || res.Allowed != (minor >= tt.since) {
				t.Errorf("1.%d: %s: managedFields are the same: got %+v (%v), want it since 1.%d", minor, name, res, err, tt.since)
			}
		}
	}
}

// The conformance cases metadata-fields* check the same on a real server.
func TestMetadataInRules(t *testing.T) {
	t.Parallel()
	const sent, set = `name: a, namespace: d`, `, uid: u, creationTimestamp: "2024-01-01T00:00:00Z", generation: 1, resourceVersion: "2"`
	for name, tt := range map[string]struct {
		metadata, body, old string
		fields              int
	}{
		"create":               {sent, `, more: a`, "", 6},
		"create, labels":       {sent + `, labels: {a: b}`, ``, "", 7},
		"create, nothing":      {sent, ``, "", 5},
		"update":               {sent, `, more: b`, sent + set, 7},
		"update, nothing":      {sent, `, more: b`, sent + set + `, managedFields: []`, 6},
		"update of a file":     {sent, `, more: b`, sent, 3},
		"create, own metadata": {sent + set, `, more: a`, "", 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := func(metadata, body string) string {
				return `{apiVersion: example.org/v1, kind: Gizmo, metadata: {` + metadata + `}` + body + `}`
			}
			rule := fmt.Sprintf(`"dyn(self.metadata).map(k, k).size() == %d"`, tt.fields)
			e := mustCompile(t, strings.Replace(tracked, "self == oldSelf", rule, 1))
			req := engine.Request{Object: object(t, text(tt.metadata, tt.body))}
			if tt.old != "" {
				req.OldObject = object(t, text(tt.old, `, more: a`))
			}
			res, err := e.Validate(t.Context(), req)
			if err != nil || !res.Allowed {
				t.Fatal(res, err)
			}
			if _, ok := res.Object["metadata"].(map[string]any)["managedFields"]; ok {
				t.Error("the persisted object has managedFields")
			}
		})
	}
}
