package resource

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

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

// maxTemplate limits the bytes of a file that are searched for a template.
const maxTemplate = 1 << 20

// IsTemplate reports whether a text is a Helm template.
func IsTemplate(text []byte) bool {
	head := text[:min(len(text), maxTemplate)]
	return bytes.Contains(head, []byte("{{")) && bytes.Contains(head, []byte("}}"))
}

// Charts holds the Helm charts whose templates are ignored.
type Charts struct {
	files  sync.Map // map[string]bool by file
	folder sync.Map // map[string]bool by folder
}

// Has reports whether a document was found below a folder and its file is a template of a Helm chart.
// Such a file may be valid YAML by accident, but is nothing that a server receives.
func (c *Charts) Has(doc *input.Document, named []string) bool {
	if !IsBelowFolder(doc, named) || doc.File == "-" {
		return false
	}
	if is, ok := c.files.Load(doc.File); ok {
		return is.(bool)
	}
	is := false
	if folder := ChartOf(doc.File); folder != "" {
		text, err := input.ReadFile(doc.File, maxTemplate)
		if is = err == nil && IsTemplate(text); is {
			c.folder.Store(folder, true)
		}
	}
	c.files.Store(doc.File, is)
	return is
}

// Notes returns a note for each chart.
func (c *Charts) Notes() (notes []error) {
	c.folder.Range(func(folder, _ any) bool {
		notes = append(notes, fmt.Errorf("%s: the templates of this Helm chart are ignored: check the output of helm template %[1]s", folder))
		return true
	})
	slices.SortFunc(notes, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return notes
}
