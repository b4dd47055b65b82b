// Package resource decodes CustomResourceDefinitions from documents, and determines which documents are not meant
// for a server.
package resource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

const (
	// Kind and APIVersion identify CRDs. Older CRDs have catalog.APIVersionBeta.
	Kind       = "CustomResourceDefinition"
	APIVersion = "apiextensions.k8s.io/v1"
	// maxJSON is etcd's default limit for an object. Descriptions do not count: a decoded
	// schema needs up to three hundred times the memory of its JSON, its descriptions do not.
	maxJSON = 3 << 19
)

// A Read is the CRD in a document, or the reason why it cannot be read.
type Read struct {
	Location string
	CRD      *Compact // nil for a document of another kind, or with Err
	Err      error
}

// One reads a document as a Compact.
func One(doc *input.Document) Read {
	crd, err := DecodeCompact(doc)
	return Read{doc.Location(), crd, err}
}

// Beta reports whether a document is a CRD of apiextensions.k8s.io/v1beta1.
func Beta(doc *input.Document) bool {
	return doc.Object["kind"] == Kind && doc.Object["apiVersion"] == catalog.APIVersionBeta
}

// FoundPatch reports whether doc is a patch of a CRD in a file that the user did not name. Commands skip such
// documents: kustomize applies them, and they are never sent to a server.
func FoundPatch(doc *input.Document, named []string) bool {
	return doc.Object["kind"] == Kind && !slices.Contains(named, doc.File) && catalog.IsPatchObject(doc.Object)
}

// Decode returns the CRD in a document, including the descriptions in its schemas, or nil for a
// document of another kind. It returns an error if the CRD without descriptions is larger than etcd's
// limit. It converts a CRD of apiextensions.k8s.io/v1beta1 as the API server does. It does not modify
// the document.
func Decode(doc *input.Document) (*apiextensionsv1.CustomResourceDefinition, error) {
	if doc.Err != nil || doc.Object["kind"] != Kind {
		return nil, doc.Err
	}
	data, err := doc.JSON()
	if err == nil && len(data) > maxJSON {
		_, err = compactJSON(doc.Object)
	}
	if err != nil {
		return nil, err
	}
	return decoded(doc, data)
}

func decoded(doc *input.Document, data []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd, err := catalog.Decode(data)
	if err == nil {
		return crd, nil
	}
	if bad := vet.FindMistyped(doc.Object); len(bad) > 0 {
		err = fmt.Errorf("not a CustomResourceDefinition: %s: want %s", bad[0].Path, bad[0].Want)
		if at := doc.Locate([]string{bad[0].Path})[0]; at.Line > 0 {
			err = fmt.Errorf("%w (line %d)", err, at.Line)
		}
	}
	return nil, err
}

// Stored reports whether a CRD comes from a server, which has set its uid.
func Stored(crd map[string]any) bool { return input.Metadata(crd)["uid"] != nil }

// Complete sets the apiVersion and kind of a CRD that comes from a server's list, whose items lack them.
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
	if _, beta := spec["version"]; beta { // the server always sets it, and v1 has no such field
		apiVersion = catalog.APIVersionBeta
	}
	doc.Complete(apiVersion, Kind)
}

// BrokenRule returns a description of a rule that does not compile: its location in the CRD, and the line with a
// caret if e has one.
func BrokenRule(crd string, e *engine.CompileError) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: version %s, %s, x-kubernetes-validations[%d].%s does not compile", crd, e.Version, phrase.Path(e.Path), e.Index, e.Part)
	if e.Snippet == "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
		return b.String()
	}
	fmt.Fprintf(&b, " at line %d, column %d:\n%s\n%s", e.Line, e.Column, Indent(e.Snippet, "    "), Indent(e.Summary(), "  "))
	return b.String()
}

// Indent returns text with each of its lines indented. It has no line break at the end.
func Indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by)
}

// CheckNames returns an error if a server would reject a CRD's name or versions. They are untrusted,
// and valid names can safely be used in file names.
func CheckNames(name string, versions ...string) error {
	if errs := validation.IsDNS1123Subdomain(name); len(errs) > 0 {
		return fmt.Errorf("%q: not the name of a CRD: %s", name, errs[0])
	}
	for _, v := range versions {
		if errs := validation.IsDNS1035Label(v); len(errs) > 0 {
			return fmt.Errorf("%s: version %q: not the name of a version: %s", name, v, errs[0])
		}
	}
	return nil
}

// atTop maps fields of a version to the fields of a v1beta1 CRD's spec that apply to all versions.
var atTop = map[string]string{
	"schema":                   "validation",
	"subresources":             "subresources",
	"additionalPrinterColumns": "additionalPrinterColumns",
	"selectableFields":         "selectableFields",
	"name":                     "version",
}

// DocumentPath returns the path in a document of a CRD's field, which is named as in a report. In a v1beta1
// CRD, the field may be at the top level of the spec.
func DocumentPath(doc *input.Document, field string) string {
	path := vet.Place(field)
	if doc.Original != nil {
		return originalPath(doc, path)
	}
	if !Beta(doc) {
		return path
	}
	rest, ok := strings.CutPrefix(path, "spec.versions[")
	_, rest, closed := strings.Cut(rest, "].")
	if !ok || !closed {
		return path
	}
	name, end := rest, ""
	if i := strings.IndexAny(rest, ".["); i >= 0 {
		name, end = rest[:i], rest[i:]
	}
	spec, _ := doc.Object["spec"].(map[string]any)
	if top := atTop[name]; top != "" && spec[top] != nil {
		return "spec." + top + end
	}
	return path
}

// All decodes the CRDs at and below paths with decode, which returns nil for a document of another kind. It prints
// the errors of documents, and then returns broken as true. It skips the documents that a Filter ignores. It returns
// an error if it finds no CRD.
func All[T any](ctx context.Context, s command.Streams, paths []string, decode func(*input.Document) (*T, error)) (crds []*T, broken bool, err error) {
	type one struct {
		crd *T
		err error
	}
	filter := NewFilter(paths)
	read := func(doc *input.Document) one {
		Complete(doc)
		if filter.Ignores(doc) {
			return one{}
		}
		crd, err := decode(doc)
		if err != nil {
			err = fmt.Errorf("%s: %w", doc.Location(), err)
		}
		return one{crd, err}
	}
	err = batch.From(Files(s.Stdin, paths), read, func(r one) error {
		switch {
		case r.err != nil:
			broken = true
			s.Complain(r.err)
		case r.crd != nil:
			crds = append(crds, r.crd)
		}
		return nil
	}).Run(ctx)
	for _, note := range filter.Notes() {
		s.Complain(note)
	}
	switch {
	case err != nil || len(crds) > 0:
		return crds, broken, err
	case broken:
		return nil, broken, &command.ExitError{Code: command.Usage}
	}
	return nil, broken, &command.ExitError{Code: command.Usage, Err: fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(paths, ", "))}
}
