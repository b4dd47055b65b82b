// Package crdfile makes CustomResourceDefinitions of documents, as they stand in
// files.
package crdfile

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
)

const (
	// Kind and APIVersion are those of CRDs; there are older ones of
	// catalog.APIVersionBeta.
	Kind       = "CustomResourceDefinition"
	APIVersion = "apiextensions.k8s.io/v1"
	// most is what etcd takes at most of one object, unless it is set to take
	// more. A schema needs up to three hundred times as much memory.
	most = 3 << 19
)

// Read is what was made of a document.
type Read struct {
	Place string
	CRD   *apiextensionsv1.CustomResourceDefinition // nil for another kind
	Err   error
}

// One reads a document.
func One(doc *input.Document) Read {
	crd, err := Decode(doc)
	return Read{doc.Place(), crd, err}
}

// Beta is true of a document that is a CRD of the older version.
func Beta(doc *input.Document) bool {
	return doc.Object["kind"] == Kind && doc.Object["apiVersion"] == catalog.APIVersionBeta
}

// FoundPatch reports whether doc is a patch of a CRD that was found in a folder instead of being named by the user. Commands
// skip such documents: kustomize applies them, and they are never sent to a server.
func FoundPatch(doc *input.Document, named []string) bool {
	return doc.Object["kind"] == Kind && !slices.Contains(named, doc.File) && catalog.IsPatchObject(doc.Object)
}

// Decode is nil for a document that is no CRD. It leaves out descriptions, and
// converts what is of the older version as a server does.
func Decode(doc *input.Document) (*apiextensionsv1.CustomResourceDefinition, error) {
	if doc.Err != nil {
		return nil, doc.Err
	}
	if doc.Object["kind"] != Kind {
		return nil, nil
	}
	withoutDescriptions(doc.Object)
	return decode(doc.Object, most)
}

// Described is Decode with descriptions, which a server publishes.
func Described(doc *input.Document) (*apiextensionsv1.CustomResourceDefinition, error) {
	whole := runtime.DeepCopyJSON(doc.Object)
	if crd, err := Decode(doc); crd == nil || err != nil {
		return nil, err
	}
	return decode(whole, math.MaxInt)
}

func decode(object map[string]any, most int) (*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, fmt.Errorf("a CustomResourceDefinition of %d KiB without its descriptions: want no more than the %d that etcd takes", len(data)>>10, most>>10)
	}
	return catalog.Decode(data)
}

// Stored is true of a CRD as a server gives it: the server has put its uid in.
func Stored(crd map[string]any) bool {
	meta, _ := crd["metadata"].(map[string]any)
	return meta["uid"] != nil
}

// Complete gives the items of a server's own list their kind, which they have not.
func Complete(doc *input.Document) {
	obj := doc.Object
	if obj == nil || obj["kind"] != nil || obj["apiVersion"] != nil {
		return
	}
	spec, _ := obj["spec"].(map[string]any)
	_, named := spec["names"].(map[string]any)
	_, versioned := spec["versions"].([]any)
	if !Stored(obj) || !named || !versioned {
		return
	}
	apiVersion := APIVersion
	if _, beta := spec["version"]; beta { // it always fills that in, v1 has no such field
		apiVersion = catalog.APIVersionBeta
	}
	doc.Complete(apiVersion, Kind)
}

// BrokenRule shows where a rule does not compile: its place in the CRD, and the
// rule's line with a caret.
func BrokenRule(crd string, e *engine.CompileError) string {
	where := e.Path
	if where == "" {
		where = "the root"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: version %s, %s, x-kubernetes-validations[%d].%s does not compile", crd, e.Version, where, e.Index, e.Part)
	if e.Snippet == "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
		return b.String()
	}
	fmt.Fprintf(&b, " at line %d, column %d:\n%s\n%s", e.Line, e.Column, indent(e.Snippet, "    "), indent(e.Summary(), "  "))
	return b.String()
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by)
}
