package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/find"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

type findReply struct {
	// Rule is the rule's part of the output of celadon find -o json.
	Rule *find.RulePart `json:"rule"`
	// Object and Old are the example object and its old version, as YAML.
	Object string `json:"object,omitempty"`
	Old    string `json:"old,omitempty"`
	Words  string `json:"words"`
}

func (r *Service) find(ctx context.Context, req *Request) (any, error) {
	d, err := r.compiled(ctx, req)
	if err != nil {
		return nil, err
	}
	crd, _ := d.Named(req.Of)
	if crd == nil {
		return nil, fmt.Errorf("%q: no readable CRD of that name", req.Of)
	}
	part, err := find.Ask(ctx, crd, find.Options{Version: req.Version, At: req.Path, Rule: req.Index, Want: req.Want, Steps: req.Steps})
	if err != nil {
		return nil, err
	}
	words, f := part.Result()
	answer := &findReply{Rule: part, Words: words}
	object, errObject := asYAML(f.Object)
	old, errOld := asYAML(f.Old)
	answer.Object, answer.Old = object, old
	return answer, errors.Join(errObject, errOld)
}

func asYAML(obj map[string]any) (string, error) {
	if obj == nil {
		return "", nil
	}
	text, err := untrusted.YAML(obj)
	return string(text), err
}
