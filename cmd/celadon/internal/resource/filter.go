package resource

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/catalog"
)

// A Filter determines which documents below folders are not meant to be sent to a server. Commands share it so
// that they read the same documents of a repository. It is safe for concurrent use.
type Filter struct {
	// Named lists the paths that the user named. Files that are not among them were found below a folder.
	Named []string
	// Kustomizations, if not nil, determines which files are patches.
	Kustomizations *Kustomizations

	templates sync.Map // map[string]bool: whether a file is a template
	charts    sync.Map // map[string]bool: the folders of charts whose templates are ignored
}

// NewFilter returns the Filter for the files at and below paths.
func NewFilter(paths []string) *Filter {
	return &Filter{Named: paths, Kustomizations: NewKustomizations(paths...)}
}

// ChartTemplate is the reason for ignoring a template of a Helm chart, which may be valid YAML by accident.
const ChartTemplate = "a template of a Helm chart"

// Reason returns why a document that was found below a folder is not meant to be sent to a server, or "".
func (f *Filter) Reason(doc *input.Document) string {
	if !f.found(doc) {
		return ""
	}
	if why := NoObject(doc); why != "" {
		return why
	}
	if f.Kustomizations.IsPatch(doc.File) {
		return "a patch of kustomize"
	}
	if chart := ChartOf(doc.File); chart != "" && f.isTemplate(doc.File) {
		f.charts.Store(chart, true)
		return ChartTemplate
	}
	return ""
}

// Ignores reports whether a document has a Reason, or was found below a folder, cannot be read, and is in the
// templates of a Helm chart.
func (f *Filter) Ignores(doc *input.Document) bool {
	return f.Reason(doc) != "" || doc.Err != nil && f.found(doc) && ChartOf(doc.File) != ""
}

// found reports whether a document's file was found below a folder instead of being named by the user. Standard
// input, clusters, and rendered documents count as named.
func (f *Filter) found(doc *input.Document) bool {
	return !doc.Live && !doc.Rendered && doc.File != "-" && !slices.Contains(f.Named, doc.File)
}

// Notes returns the notes about ignored chart templates and about kustomizations.
func (f *Filter) Notes() []error { return append(f.ChartNotes(), f.Kustomizations.Notes()...) }

// ChartNotes returns a note about each chart for which Reason returned ChartTemplate.
func (f *Filter) ChartNotes() (notes []error) {
	f.charts.Range(func(folder, _ any) bool {
		const note = "%s: the templates of this Helm chart are ignored: check the output of helm template %[1]s"
		notes = append(notes, fmt.Errorf(note, folder))
		return true
	})
	slices.SortFunc(notes, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return notes
}

// ErrTemplate is the error of a document for which Unrendered returns true.
var ErrTemplate = errors.New("a template: check what Helm or another tool makes of it, or skip it with --exclude")

// Unrendered reports whether a document cannot be read, probably because its file is a template.
func (f *Filter) Unrendered(doc *input.Document) bool {
	return doc.Err != nil && !doc.Live && doc.File != "-" && !errors.Is(doc.Err, input.ErrNoObject) &&
		!strings.HasSuffix(doc.File, ".json") && f.isTemplate(doc.File)
}

// maxTemplate limits the bytes that are searched for the delimiters of a template. isTemplate does not read a
// larger file.
const maxTemplate = 8 << 20

func (f *Filter) isTemplate(file string) bool {
	if is, ok := f.templates.Load(file); ok {
		return is.(bool)
	}
	text, err := input.ReadFile(file, maxTemplate)
	if err != nil {
		text = nil
	}
	return f.Hold(input.Text{File: file, Data: text})
}

// Hold reports whether the content of a file looks like a template of Helm or Jinja. It records the result, so that
// the file is not read.
func (f *Filter) Hold(text input.Text) bool {
	head := text.Data[:min(len(text.Data), maxTemplate)]
	has := func(text string) bool { return bytes.Contains(head, []byte(text)) }
	is := has("{{") && has("}}") || has("{%") && has("%}")
	f.templates.Store(text.File, is)
	return is
}

// ChartOf returns the folder of the Helm chart that has a file among its templates, or "".
func ChartOf(file string) string {
	for dir := filepath.Dir(file); ; {
		parent := filepath.Dir(dir)
		if filepath.Base(dir) == "templates" {
			if info, err := os.Lstat(filepath.Join(parent, "Chart.yaml")); err == nil && info.Mode().IsRegular() {
				return parent
			}
		}
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// NoObject returns the reason why a document is not meant to be sent to a server, or "". Folders can
// also contain the files of tools that build or package objects, and files that only look like YAML or
// JSON.
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
	case group == Own:
		return "not a Kubernetes object: it is Celadon's"
	case group == "kustomize.config.k8s.io", id.APIVersion == "builtin": // a transformer or generator
		return "not a Kubernetes object: it is kustomize's"
	case id.Kind == Kind && catalog.IsPatchObject(doc.Object):
		return "a patch of a CustomResourceDefinition"
	}
	return ""
}

// Own is the group of files that Celadon writes, and of test suites.
const Own = "celadon"

// Suite is ruletest.Kind. The package of suites links the search for objects, which most commands do not need.
const Suite = "RuleTest"
