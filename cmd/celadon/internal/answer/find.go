package answer

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/find"
	"github.com/celadon-cel/celadon/internal/foreign"
)

// found is the answer to find.
type found struct {
	// Rule is what celadon find -o json prints of the rule.
	Rule *find.RulePart `json:"rule"`
	// Object and Old are what was found, as YAML.
	Object string `json:"object,omitempty"`
	Old    string `json:"old,omitempty"`
	// Words say it in a sentence.
	Words string `json:"words"`
}

func (r *Room) find(ctx context.Context, req *Request) (any, error) {
	d, err := r.desk(ctx, req)
	if err != nil {
		return nil, err
	}
	crds := d.CRDs()
	if req.Of < 0 || req.Of >= len(crds) {
		return nil, fmt.Errorf("of %d: there are %d CRDs that can be read", req.Of, len(crds))
	}
	part, err := find.Ask(ctx, crds[req.Of], find.Question{Version: req.Version, Path: req.Path, Index: req.Index, Want: req.Want, Steps: req.Steps})
	if err != nil {
		return nil, err
	}
	words, f := part.Said()
	answer := &found{Rule: part, Words: words}
	object, errObject := asYAML(f.Object)
	old, errOld := asYAML(f.Old)
	answer.Object, answer.Old = object, old
	return answer, errors.Join(errObject, errOld)
}

func asYAML(obj map[string]any) (string, error) {
	if obj == nil {
		return "", nil
	}
	text, err := foreign.YAML(obj)
	return string(text), err
}
