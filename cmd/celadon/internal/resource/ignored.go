package resource

import (
	"errors"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// A Filter determines which documents below folders are not meant to be sent to a server. All commands use it, so that
// they read the same documents of a repository. It is safe for concurrent use.
type Filter struct {
	// Named lists the files that the user named, in contrast to files that were found below a folder.
	Named []string
	// Kustomizations, if not nil, determines which files are patches.
	Kustomizations *Kustomizations

	charts Charts
}

// NewFilter returns the Filter for the files at and below paths.
func NewFilter(paths []string) *Filter {
	return &Filter{Named: paths, Kustomizations: NewKustomizations(paths...)}
}

// Ignores reports whether a document was found below a folder and is not meant to be sent to a server.
func (f *Filter) Ignores(doc *input.Document) bool {
	if !IsBelowFolder(doc, f.Named) || doc.File == "-" {
		return false
	}
	return NoObject(doc) != "" || f.Kustomizations.IsPatch(doc.File) || f.charts.Has(doc, f.Named) || doc.Err != nil && ChartOf(doc.File) != ""
}

// Notes returns a note about the files that were ignored.
func (f *Filter) Notes() []error { return append(f.charts.Notes(), f.Kustomizations.Notes()...) }

// IsBelowFolder reports whether a document's file was found below a folder instead of being named by
// the user.
func IsBelowFolder(doc *input.Document, named []string) bool {
	return !doc.Live && !slices.Contains(named, doc.File)
}

// NoObject returns the reason why a document is not meant to be sent to a server, or "". Folders can
// also contain the files of tools that build or package objects, and files that only look like YAML or
// JSON. Incomplete objects are not among them: they are reported as errors.
func NoObject(doc *input.Document) string {
	var syntax *input.SyntaxError
	switch {
	case errors.Is(doc.Err, input.ErrNoObject):
		return "not a Kubernetes object: not a mapping"
	case doc.Unrelated && errors.As(doc.Err, &syntax):
		return "not a Kubernetes object: " + syntax.Error()
	case doc.Err != nil:
		return ""
	}
	id := doc.Identity()
	group := id.GroupKind().Group
	switch {
	case id.Kind == "" && group == "" && doc.Object["kind"] == nil && !Stored(doc.Object): // Chart.yaml has an apiVersion
		return "not a Kubernetes object: apiVersion and kind are missing"
	case group == own:
		return "not a Kubernetes object: it is Celadon's"
	case group == "kustomize.config.k8s.io":
		return "not a Kubernetes object: it is kustomize's"
	case id.Kind == Kind && catalog.IsPatchObject(doc.Object):
		return "a patch of a CustomResourceDefinition"
	}
	return ""
}

// own is the group of files that Celadon writes, and of test suites.
const own = "celadon"
