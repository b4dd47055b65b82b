package verdict

import (
	"errors"
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
	is := resource.IsTemplate(text.Data[:min(len(text.Data), maxDocument)])
	t.files.Store(text.File, is)
	return is
}
