package service

import (
	"bytes"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/secret"
)

// maskedTexts returns a copy of each text in which values of format password, and values that contain
// a password, are replaced. If there are any, the texts are written again without comments, which could repeat them. n is
// the number of passwords. It returns an error if a document cannot be read or has no usable CRD, because its secrets are
// then unknown.
func maskedTexts(d *verdict.TextChecker, texts ...input.Text) (masked [][]byte, n int, err error) {
	var mask secret.Mask
	docs := make([][]*input.Document, len(texts))
	for i, text := range texts {
		for doc := range text.Documents {
			def, _ := d.Definition(doc.Identity().GroupKind())
			switch {
			case doc.Err != nil:
				err = fmt.Errorf("%s: %w", doc.Location(), doc.Err)
			case def == nil:
				err = fmt.Errorf("%s: no usable CRD given for it", doc.Location())
			default:
				n += len(secret.Of(def, doc.Object).PathStrings())
				mask.Add(def, doc.Object)
			}
			docs[i] = append(docs[i], doc)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	for i, text := range texts {
		if n == 0 {
			masked = append(masked, text.Data)
			continue
		}
		var parts [][]byte
		for _, doc := range docs[i] {
			part, err := untrusted.YAML(mask.Object(doc.Object))
			if err != nil {
				return nil, 0, err
			}
			parts = append(parts, part)
		}
		masked = append(masked, bytes.Join(parts, []byte("---\n")))
	}
	return masked, n, nil
}
