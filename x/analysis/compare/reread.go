package compare

import (
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// How it works: a change of a default, a type, or the like rejects nothing itself, but rules and bounds that stay
// the same may reject the values that they now see. So for each rule of the new side that may read the value, a
// proof must show that it rejects nothing that the old side admits. For the first rule without a proof, a search
// looks for such an object. If a bound may reject the value, the effect is unknown.

// reread determines whether a change breaks anything because it alters values that other requirements of the new side
// read. known is the result for the change itself, with a proof.
func (c *comparison) reread(ch *change, known answer, m *work.Meter) (answer, error) {
	steps := ch.at.steps
	for i := range steps {
		here := crdcopy.At(ch.after.schema(), steps[:i]...)
		if here == nil || ch.adds && limitsPresence(here, steps[i:]) {
			return answer{searched: known.searched, reason: "the schema may reject the value"}, nil
		}
	}
	proof := known.proof
	for i := 0; i <= len(steps); i++ {
		here := crdcopy.At(ch.after.schema(), steps[:i]...)
		if here == nil {
			continue
		}
		for index := range here.XValidations {
			rule := &here.XValidations[index]
			if i < len(steps) && !reads(rule.Rule, steps[i]) {
				continue
			}
			g := &goal{at: schemaPath{steps: steps[:i]}, rule: rule.Rule, from: rule, index: index}
			a := c.newGoalSearch(g, ch.before, ch.after, m)
			if a.passes(engine.RuleRef{Path: engine.FormatPath(g.at.steps), Index: index}) != nil {
				if ch.Kept == nil {
					proof = "the rules that read the value accept it"
				}
				continue
			}
			a.reason = "a rule reads the value: " + rule.Rule
			if err := a.rejects(ch); err != nil || a.witness != nil {
				return a.answer, fatal(err)
			}
			a.searched += known.searched
			return a.answer, nil
		}
	}
	known.proof = proof
	return known, nil
}

// rejects searches for an object that base admits and that the goal's rule rejects on the other side because of ch.
func (a *goalSearch) rejects(ch *change) error {
	if err := a.findInOtherCRD(); err != nil || a.witness == nil {
		return err
	}
	due, err := a.without(ch.at.steps, a.witness.request())
	if !due {
		a.witness = nil // other changes explain the rejection
	}
	return err
}

// without reports whether the other side would accept the write if it read the value at steps in the same
// way as base.
func (a *goalSearch) without(steps []engine.Step, req engine.Request) (bool, error) {
	was := crdcopy.At(a.base.schema(), steps...)
	root, ok := crdcopy.Schema(a.other.schema(), steps, func(p *props) {
		if p.Default = nil; was != nil {
			p.Default, p.Nullable, p.Type, p.Format, p.XIntOrString = was.Default, was.Nullable, was.Type, was.Format, was.XIntOrString
			p.XListType, p.XListMapKeys, p.XPreserveUnknownFields = was.XListType, was.XListMapKeys, was.XPreserveUnknownFields
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

// limitsPresence reports whether a schema may reject an object because a value below it, at steps, is present.
func limitsPresence(s *props, steps []engine.Step) bool {
	if s.MaxProperties != nil || s.Not != nil || len(s.Enum)+len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0 {
		return true
	}
	if listTypeOf(s) == "set" {
		return true // equal items
	}
	return listTypeOf(s) != "" && len(steps) == 2 && slices.Contains(s.XListMapKeys, steps[1].Name)
}

// reads reports whether a rule may read the value at a step below its own path.
func reads(rule string, step engine.Step) bool {
	tree, err := parsed(rule)
	if err != nil || step.Any || step.Item {
		return true
	}
	name, ok := types.Escape(step.Name)
	root := func(e ast.Expr) bool {
		return e.Kind() == ast.IdentKind && (e.AsIdent() == "self" || e.AsIdent() == "oldSelf")
	}
	roots, selections, found := 0, 0, !ok
	ast.PreOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case root(e):
			roots++
		case e.Kind() == ast.SelectKind && root(e.AsSelect().Operand()):
			selections++
			found = found || e.AsSelect().FieldName() == name
		}
	}))
	return found || roots > selections // the rule may use self as a whole
}
