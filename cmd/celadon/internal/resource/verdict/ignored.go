package verdict

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// isBelowFolder is true for what stands below a folder, and was not named by hand.
func isBelowFolder(doc *input.Document, named []string) bool {
	return !doc.Live && !slices.Contains(named, doc.File)
}

// noObject says why a document is nothing that a server is sent: what builds and
// packages objects stands in the same folders. What looks like half an object is
// no such thing.
func noObject(doc *input.Document) string {
	if errors.Is(doc.Err, input.ErrNoObject) {
		return "no Kubernetes object: no mapping"
	}
	if doc.Err != nil {
		return ""
	}
	id := doc.Identity()
	group := id.GroupKind().Group
	switch {
	case id.Kind == "" && group == "" && doc.Object["kind"] == nil && !resource.Stored(doc.Object): // Chart.yaml has an apiVersion
		return "no Kubernetes object: apiVersion and kind are missing"
	case group == own:
		return "no Kubernetes object: Celadon's own"
	case group == "kustomize.config.k8s.io":
		return "no Kubernetes object: kustomize's own"
	case id.Kind == resource.Kind && catalog.IsPatchObject(doc.Object):
		return "a patch of a CustomResourceDefinition"
	}
	return ""
}

// own is the group of what Celadon writes, and of suites of tests.
const own = "celadon"

var errTemplate = errors.New("a Helm template: check what helm template makes of it, or leave it out with --exclude")

// maxDocument is how much of a file is looked at for a template.
const maxDocument = 1 << 20

// templates tells files that are templates. Each of their documents asks.
type templates struct{ files sync.Map } // whether one is, by file

// has is true of a document that cannot be read in a file that holds a template.
func (t *templates) has(doc *input.Document) bool {
	if doc.Err == nil || doc.Live || doc.File == "-" || errors.Is(doc.Err, input.ErrNoObject) || strings.HasSuffix(doc.File, ".json") {
		return false
	}
	if is, ok := t.files.Load(doc.File); ok {
		return is.(bool)
	}
	text, err := input.ReadFile(doc.File, maxDocument)
	if err != nil {
		text = nil
	}
	return t.hold(input.Text{File: doc.File, Data: text})
}

// hold notes of a file whether it is one.
func (t *templates) hold(text input.Text) bool {
	head := text.Data[:min(len(text.Data), maxDocument)]
	is := bytes.Contains(head, []byte("{{")) && bytes.Contains(head, []byte("}}"))
	t.files.Store(text.File, is)
	return is
}
