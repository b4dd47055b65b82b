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

// own is the group of files that Celadon writes, and of test suites.
const own = "celadon"
