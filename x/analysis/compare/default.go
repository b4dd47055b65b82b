package compare

import (
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// byDefault reports whether the other side would accept the write if it had base's default at the
// goal's path.
func (a *goalSearch) byDefault(req engine.Request) (bool, error) {
	steps := append(a.goal.at.steps[:len(a.goal.at.steps):len(a.goal.at.steps)], engine.Step{Name: a.under})
	was := at(a.base.schema(), steps)
	root, ok := crdcopy.Schema(a.other.schema(), steps, func(p *props) {
		if p.Default = nil; was != nil {
			p.Default = was.Default
		}
	})
	if !ok {
		return false, nil
	}
	e, err := engine.Compile(alone(a.other, root), engine.Config{KubeVersion: a.other.kubeVersion})
	if e == nil {
		return false, err
	}
	req.Object = a.versioned(req.Object)
	req.FieldValidation = "Ignore"
	res, err := e.Validate(a.ctx, req)
	return err == nil && res.Allowed, undecidable(err)
}
