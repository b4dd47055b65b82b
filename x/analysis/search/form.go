package search

import (
	"slices"

	"github.com/celadon-cel/celadon/engine"
)

// Form returns a search in another form of the same CRD version. It has the same schema; its engine
// may have other rules, for example from an engine.Rewriter. otherForm is Config.OtherForm of the new
// search. The two searches do not share results, so the results are the same as from a search created
// with New, which takes far longer.
func (s *Search) Form(e *engine.Engine, otherForm *Search) *Search {
	form := *s
	form.engine, form.compilers, form.cfg.OtherForm = e, newCompilers(e), otherForm
	form.pools = map[string][]*candidate{}
	form.rules, form.byRef = nil, map[engine.RuleRef]*rule{}
	for _, ref := range e.Rules(s.version) {
		r := s.byRef[*ref]
		if r == nil {
			steps, err := engine.ParsePath(ref.Path)
			if err != nil {
				continue
			}
			r = &rule{ref: *ref, steps: steps, optional: ref.OptionalOldSelf}
		}
		form.rules = append(form.rules, r)
		form.byRef[r.ref] = r
	}
	form.rules = slices.Clip(form.rules)
	return &form
}
