package verdict

import (
	"errors"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// isBelowFolder reports whether a document's file was found below a folder instead of being named by
// the user.
func isBelowFolder(doc *input.Document, named []string) bool {
	return !doc.Live && !slices.Contains(named, doc.File)
}

// noObject returns the reason why a document is not meant to be sent to a server, or "". Folders can
// also contain the files of tools that build or package objects. Incomplete objects are not among
// them: they are reported as errors.
func noObject(doc *input.Document) string {
	if errors.Is(doc.Err, input.ErrNoObject) {
		return "not a Kubernetes object: not a mapping"
	}
	if doc.Err != nil {
		return ""
	}
	id := doc.Identity()
	group := id.GroupKind().Group
	switch {
	case id.Kind == "" && group == "" && doc.Object["kind"] == nil && !resource.Stored(doc.Object): // Chart.yaml has an apiVersion
		return "not a Kubernetes object: apiVersion and kind are missing"
	case group == own:
		return "not a Kubernetes object: it is Celadon's"
	case group == "kustomize.config.k8s.io":
		return "not a Kubernetes object: it is kustomize's"
	case id.Kind == resource.Kind && catalog.IsPatchObject(doc.Object):
		return "a patch of a CustomResourceDefinition"
	}
	return ""
}

// IgnoredBelow reports whether commands ignore a document that was found below a folder: it is not meant to
// be sent to a server, it is a patch of kustomize, or it is a template of a Helm chart that cannot be read.
func IgnoredBelow(doc *input.Document, named []string, k *resource.Kustomizations) bool {
	if !isBelowFolder(doc, named) || doc.File == "-" {
		return false
	}
	return noObject(doc) != "" || k.IsPatch(doc.File) || doc.Err != nil && resource.ChartOf(doc.File) != ""
}

// own is the group of files that Celadon writes, and of test suites.
const own = "celadon"
