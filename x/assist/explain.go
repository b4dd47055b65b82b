package assist

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

// Explain returns the problem of a rule of a CRD that does not compile, with its fixes. e is the engine that was compiled
// from the CRD. functions may be nil; calls for the same CRD should share it. Explain returns nil if the path of the
// rule is unknown.
func Explain(e *engine.Engine, crd *apiextensionsv1.CustomResourceDefinition, bad *engine.CompileError, functions *Functions) *Problem {
	if e == nil || bad.Part == "fieldPath" {
		return nil
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Name != bad.Version || v.Schema == nil {
			continue
		}
		p, err := NewContext(e, v.Schema.OpenAPIV3Schema, v.Name, bad.Path)
		if err != nil {
			return nil
		}
		p.Functions, p.Part = functions, Rule
		if bad.Part == "messageExpression" {
			if p.Part = MessageExpression; p.Schema == nil || bad.Index >= len(p.Schema.XValidations) {
				return nil
			}
			message := *bad
			message.Rule, bad = p.Schema.XValidations[bad.Index].MessageExpression, &message
		}
		problem := p.ProblemOf(bad)
		return &problem
	}
	return nil
}
