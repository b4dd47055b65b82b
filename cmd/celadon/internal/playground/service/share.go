package service

import (
	"context"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
)

// shared is the response to share: the objects without their passwords.
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

// about returns the supported Kubernetes versions.
func (r *Service) about(context.Context, *Request) (any, error) {
	return &struct {
		KubeVersions []string `json:"kubeVersions"`
	}{vet.KubeVersions()}, nil
}
