package service

import (
	"bytes"
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/secret"
)

type shared struct {
	Object string `json:"object"`
	Old    string `json:"old"`
	// Passwords is the number of removed passwords.
	Passwords int `json:"passwords"`
	// Unknown is the reason why the secrets could not be determined. Object and Old are empty then.
	Unknown string `json:"unknown,omitempty"`
}

func (r *Service) share(ctx context.Context, req *Request) (any, error) {
	d, err := r.compiled(ctx, req)
	if err != nil {
		return nil, err
	}
	texts, n, err := maskedTexts(d.TextChecker, input.Text{File: ObjectFile, Data: []byte(req.Object)}, input.Text{File: OldFile, Data: []byte(req.Old)})
	if err != nil {
		return &shared{Unknown: err.Error()}, nil
	}
	return &shared{Object: string(texts[0]), Old: string(texts[1]), Passwords: n}, nil
}

func (r *Service) about(context.Context, *Request) (any, error) {
	return map[string]any{"kubeVersions": vet.KubeVersions()}, nil
}

// maskedTexts replaces values of format password, and strings that contain one, in each text, except apiVersion, kind,
// and the object's name and namespace. If there are any, the texts are written again without comments, which could
// repeat them. It returns an error if a document cannot be read or has no usable CRD, because its secrets are then
// unknown.
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
