package resource

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
)

// How it works. Crossplane and kcp define kinds by objects of their own, from which they generate CRDs.
// Definitions does the same, so that commands read these objects as CRDs. A generated document has the source of
// the original, and its fields are mostly at the same paths. DocumentPath maps the others.

// maxVersions limits the versions of a generated CRD. A version adds the fields of Crossplane, so a short document
// could otherwise need much memory.
const maxVersions = 100

// Definitions returns the CRDs that a document defines: those that Crossplane generates from a
// CompositeResourceDefinition, the one that kcp serves for an APIResourceSchema, and otherwise the document itself.
func Definitions(doc *input.Document) []*input.Document {
	if doc.Err != nil {
		return []*input.Document{doc}
	}
	var crds []map[string]any
	switch kind := doc.Identity().GroupKind(); {
	case kind == schema.GroupKind{Group: xrdGroup, Kind: xrdKind}:
		crds = compositeDefinitions(doc.Object)
	case kind.Kind == schemaKind && (kind.Group == "apis.kcp.io" || kind.Group == "apis.kcp.dev"):
		crds = schemaDefinitions(doc.Object)
	}
	if len(crds) == 0 {
		return []*input.Document{doc}
	}
	docs := make([]*input.Document, len(crds))
	for i, crd := range crds {
		docs[i] = doc.Derived(crd)
	}
	return docs
}

// Generates reports whether CRDs are generated from a document.
func Generates(doc *input.Document) bool { return Definitions(doc)[0] != doc }

// MayDefine reports whether text contains the name of a kind that defines kinds.
func MayDefine(text []byte) bool {
	return slices.ContainsFunc([]string{Kind, xrdKind, schemaKind}, func(kind string) bool { return bytes.Contains(text, []byte(kind)) })
}

// Files returns a source of the CRDs that the documents at and below paths define.
func Files(stdin io.Reader, paths []string) batch.Source {
	return Sourced(batch.Files(stdin, paths), nil)
}

// Sourced returns a source that yields the CRDs that the documents of source define. If skip is not nil, it yields
// nothing from input for which skip returns true.
func Sourced(source batch.Source, skip func([]byte) bool) batch.Source {
	return func(wait func(), yield func(input.Chunk) bool) {
		source(wait, func(c input.Chunk) bool {
			origin := c.Expand
			c.Expand, c.Skip = Definitions, skip
			if origin != nil {
				c.Expand = func(doc *input.Document) (all []*input.Document) {
					for _, d := range origin(doc) {
						all = append(all, Definitions(d)...)
					}
					return all
				}
			}
			return yield(c)
		})
	}
}

func newDefinition(name string, spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": APIVersion, "kind": Kind, "metadata": map[string]any{"name": name}, "spec": spec}
}

func picked(object map[string]any, keys ...string) map[string]any {
	out := map[string]any{}
	for _, key := range keys {
		if v, ok := object[key]; ok {
			out[key] = v
		}
	}
	return out
}

func eachVersion(spec map[string]any, f func(version map[string]any) map[string]any) []any {
	versions, _ := spec["versions"].([]any)
	if len(versions) > maxVersions {
		return nil
	}
	var out []any
	for _, v := range versions {
		version, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		out = append(out, f(version))
	}
	return out
}

func objectAt(v any, keys ...string) map[string]any {
	object, _ := v.(map[string]any)
	for _, key := range keys {
		object, _ = object[key].(map[string]any)
	}
	return object
}

// schemaKind is the kind of kcp that defines a kind. See https://docs.kcp.io/kcp/main/concepts/apis/exporting-apis.
const schemaKind = "APIResourceSchema"

// schemaDefinitions returns the CRD for an APIResourceSchema, or nil if it is invalid. In contrast to the CRD's name,
// the name of an APIResourceSchema has a prefix for its version, such as v220801-a1b2.things.example.com.
func schemaDefinitions(object map[string]any) []map[string]any {
	from := objectAt(object, "spec")
	spec := picked(from, "group", "names", "scope", "conversion")
	versions := eachVersion(from, func(version map[string]any) map[string]any {
		out := maps.Clone(version)
		if schema, ok := version["schema"]; ok {
			out["schema"] = map[string]any{"openAPIV3Schema": schema}
		}
		return out
	})
	plural, _ := objectAt(from, "names")["plural"].(string)
	group, _ := from["group"].(string)
	if versions == nil || plural == "" || group == "" {
		return nil
	}
	spec["versions"] = versions
	return []map[string]any{newDefinition(plural+"."+group, spec)}
}

func originalPath(doc *input.Document, path string) string {
	switch doc.Original["kind"] {
	case schemaKind:
		before, after, ok := strings.Cut(path, "].schema.openAPIV3Schema")
		if ok && !strings.Contains(before, "]") {
			return before + "].schema" + after
		}
	case xrdKind:
		names, claims := objectAt(doc.Object, "spec", "names"), objectAt(doc.Original, "spec", "claimNames")
		if rest, ok := strings.CutPrefix(path, "spec.names"); ok && claims != nil && names["kind"] == claims["kind"] {
			return "spec.claimNames" + rest
		}
	}
	return path
}
