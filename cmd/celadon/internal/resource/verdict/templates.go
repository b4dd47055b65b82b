package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
)

var errTemplate = errors.New("a Helm template: check the output of helm template, or skip it with --exclude")

// maxDocument limits the bytes of a file that are searched for a template.
const maxDocument = 1 << 20

// templates detects files that are Helm templates, and caches the result by file.
type templates struct{ files sync.Map } // map[string]bool by file

// has reports whether a document cannot be read because its file is a template.
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

// hold reports whether a file is a template, and records the result.
func (t *templates) hold(text input.Text) bool {
	is := isTemplate(text.Data)
	t.files.Store(text.File, is)
	return is
}

func isTemplate(text []byte) bool {
	head := text[:min(len(text), maxDocument)]
	return bytes.Contains(head, []byte("{{")) && bytes.Contains(head, []byte("}}"))
}

// charts holds the Helm charts whose templates are ignored.
type charts struct {
	files  sync.Map // map[string]bool by file
	folder sync.Map // map[string]bool by folder
}

// has reports whether a document was found below a folder and its file is a template of a Helm chart.
// Such a file may be valid YAML by accident, but is nothing that a server receives.
func (c *charts) has(doc *input.Document, named []string) bool {
	if !isBelowFolder(doc, named) || doc.File == "-" {
		return false
	}
	if is, ok := c.files.Load(doc.File); ok {
		return is.(bool)
	}
	is := false
	if folder := resource.ChartOf(doc.File); folder != "" {
		text, err := input.ReadFile(doc.File, maxDocument)
		if is = err == nil && isTemplate(text); is {
			c.folder.Store(folder, true)
		}
	}
	c.files.Store(doc.File, is)
	return is
}

// notes returns a note for each chart.
func (c *charts) notes() (notes []error) {
	c.folder.Range(func(folder, _ any) bool {
		notes = append(notes, fmt.Errorf("%s: the templates of this Helm chart are ignored: check the output of helm template %[1]s", folder))
		return true
	})
	slices.SortFunc(notes, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return notes
}
