package publish

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

//go:embed page.css
var style string

//go:embed page.html
var pageTemplate string

// HTML returns the page as a single file without scripts or external resources. All text of the CRD is escaped.
func (p *Page) HTML() ([]byte, error) {
	t, err := template.New("page").Parse(pageTemplate) // parsed here so that other commands do not spend the time
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(style))
	var b strings.Builder
	err = t.Execute(&b, struct {
		*Page
		Hash  string
		Style template.CSS
	}{p, base64.StdEncoding.EncodeToString(hash[:]), template.CSS(style)})
	return []byte(untrusted.Text(b.String())), err
}
