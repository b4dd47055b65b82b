package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// How it works: :advice vets the whole CRD. After each new rule and each condition, only the lints of
// that rule are of interest, so a copy of the CRD is vetted that has no other rule and no other
// version.

// maxLintedNodes limits the size of the schemas for which lints are found after each line.
const maxLintedNodes = 20_000

// textLints are the lints that are reported for expressions too. They find conditions that compare
// quantities and versions as text.
var textLints = []string{"text-order", "text-equality"}

func (s *Session) lintsOf(ctx context.Context, rule apiextensionsv1.ValidationRule) []vet.Lint {
	st := s.state
	if st.crd == nil || st.location == nil || crdcopy.Nodes(st.crd.def) > maxLintedNodes {
		return nil
	}
	at := st.crd.version(st.version)
	if at < 0 || st.crd.schema(st.version) == nil {
		return nil
	}
	def := *st.crd.def
	only := def.Spec.Versions[at]
	only.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schemaWithoutRules(only.Schema.OpenAPIV3Schema)}
	only.Storage, only.Served = true, true
	def.Spec.Versions, def.Spec.Conversion = []apiextensionsv1.CustomResourceDefinitionVersion{only}, nil
	def.Status, def.ManagedFields = apiextensionsv1.CustomResourceDefinitionStatus{}, nil
	alone, ok := crdcopy.With(&def, st.version, st.location.steps, func(node *schemaNode) {
		node.XValidations = apiextensionsv1.ValidationRules{rule}
	})
	if !ok {
		return nil
	}
	r, err := vet.VetCRD(ctx, alone, vet.Config{KubeVersion: st.kube, Limits: s.limits, FieldValidation: metav1.FieldValidationIgnore})
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(r.Lints, func(l vet.Lint) bool { return l.Rule == "" })
}

// schemaWithoutRules returns a copy of a schema without rules and descriptions.
func schemaWithoutRules(s *schemaNode) *schemaNode {
	if s == nil {
		return nil
	}
	out := *s
	out.XValidations, out.Description = nil, ""
	if s.Properties != nil {
		out.Properties = make(map[string]schemaNode, len(s.Properties))
		for name := range s.Properties {
			prop := s.Properties[name]
			out.Properties[name] = *schemaWithoutRules(&prop)
		}
	}
	if s.Items != nil {
		items := *s.Items
		items.Schema = schemaWithoutRules(items.Schema)
		out.Items = &items
	}
	if s.AdditionalProperties != nil {
		other := *s.AdditionalProperties
		other.Schema = schemaWithoutRules(other.Schema)
		out.AdditionalProperties = &other
	}
	return &out
}

func (s *Session) lintNote(l *vet.Lint) string {
	return termwidth.Fold(fmt.Sprintf("note: %s (%s)\n", printable(l.Message), l.Name), s.Width, 2)
}

// ruleNotes returns the lints of rule n, and prepares :fix to apply the first replacement.
func (s *Session) ruleNotes(ctx context.Context, n int) string {
	text := ""
	for _, l := range s.lintsOf(ctx, s.rulesHere()[n]) {
		text += s.lintNote(&l)
		switch {
		case l.List != nil:
			text += fmt.Sprintf("  try:  :fix %s\n", fixListType)
		case l.Fix != "" && s.corrected == "":
			text += termwidth.Fold("  try:  "+printable(lex.OneLine(l.Fix))+"\n", s.Width, 6)
			s.corrected = fmt.Sprintf(":edit %d %s", n, l.Fix)
		}
	}
	return text
}

// conditionNotes returns the lints of a condition that is a line of its own, and prepares :fix to run
// the first replacement.
func (s *Session) conditionNotes(ctx context.Context, src string) string {
	text := ""
	for _, l := range s.lintsOf(ctx, apiextensionsv1.ValidationRule{Rule: src}) {
		if !slices.Contains(textLints, l.Name) {
			continue
		}
		text += s.lintNote(&l)
		if l.Fix != "" && s.corrected == "" {
			text += termwidth.Fold("  try:  "+printable(lex.OneLine(l.Fix))+"\n", s.Width, 6)
			s.corrected = l.Fix
		}
	}
	return text
}

// comparesText reports whether src may compare strings in order: it has a comparison operator. It
// saves the search for lints.
func comparesText(src string) bool {
	return strings.ContainsAny(src, "<>=") && strings.Contains(src, types.Self)
}
