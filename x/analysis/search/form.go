package search

import (
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
)

// Form returns a search in another form of the same CRD version, without Config.OtherForm. It has the
// same schema; its engine may have other rules, for example from an engine.Rewriter. It shares the
// schema and compiled rules with s, but no objects, so it is much faster to create than with New.
func (s *Search) Form(e *engine.Engine) *Search {
	form := *s
	form.engine, form.compilers, form.cfg.OtherForm = e, map[string]*expr.Compiler{}, nil
	form.pools = map[string][]*candidate{}
	form.rules, form.byRef = nil, map[engine.RuleRef]*rule{}
	for _, ref := range e.Rules(s.version) {
		r := s.byRef[*ref]
		if r == nil {
			steps, err := engine.ParsePath(ref.Path)
			if err != nil {
				continue
			}
			r = &rule{ref: *ref, steps: steps}
		}
		form.rules = append(form.rules, r)
		form.byRef[r.ref] = r
	}
	return &form
}
