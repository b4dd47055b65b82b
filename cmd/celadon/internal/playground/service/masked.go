package service

import (
	"bytes"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet/fix"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// maskedTexts returns a copy of each text in which values of format password, and values that contain
// a password, are replaced. n is the number of passwords. It returns an error if a document cannot be
// read or has no usable CRD, because its secrets are then unknown.
func maskedTexts(d *verdict.TextChecker, texts ...input.Text) (masked [][]byte, n int, err error) {
	var mask secret.Mask
	docs := make([][]*input.Document, len(texts))
	for i, text := range texts {
		text.Each(func(doc *input.Document) {
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
		})
	}
	if err != nil {
		return nil, 0, err
	}
	for i, text := range texts {
		after := text.Data
		if n > 0 {
			if after, err = maskedText(text.Data, docs[i], mask); err != nil {
				return nil, 0, err
			}
		}
		masked = append(masked, after)
	}
	return masked, n, nil
}

// maskedText replaces the secrets in a text. It preserves comments and formatting if possible. If a
// key occurs twice, or a secret also occurs elsewhere, for example in a comment, it writes the whole
// text again.
func maskedText(text []byte, docs []*input.Document, mask secret.Mask) ([]byte, error) {
	asWritten := true
	for _, doc := range docs {
		asWritten = asWritten && doc.AsWritten()
	}
	if asWritten {
		after, err := fix.Each(text, docs, func(i int, source []byte) ([]byte, error) { return maskedSource(source, docs[i].Object, mask) })
		if err == nil && !mask.Reveals(after) {
			return after, nil
		}
	}
	var all [][]byte
	for _, doc := range docs {
		after, err := untrusted.YAML(mask.Object(doc.Object))
		if err != nil {
			return nil, err
		}
		all = append(all, after)
	}
	return bytes.Join(all, []byte("---\n")), nil
}

func maskedSource(source []byte, obj map[string]any, mask secret.Mask) ([]byte, error) {
	doc, err := position.Parse(source)
	if err != nil {
		return nil, err
	}
	var changes []position.Change
	for c := range valuediff.Values(obj, mask.Object(obj)) {
		at := pathTo(c.Path)
		if c.Removed {
			changes = append(changes, position.Remove(at))
		} else {
			changes = append(changes, position.Set(at, c.After))
		}
	}
	if len(changes) == 0 {
		return source, nil
	}
	return doc.Edit(changes...)
}

func pathTo(steps []engine.Step) position.Path {
	path := make(position.Path, len(steps))
	for i, step := range steps {
		path[i] = position.Key(step.Name)
		if step.Item {
			path[i] = position.Item(step.Index)
		}
	}
	return path
}
