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
	only := *def.Spec.Versions[at].DeepCopy()
	dropRules(only.Schema.OpenAPIV3Schema)
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

// dropRules removes the rules and the descriptions of a schema.
func dropRules(s *schemaNode) {
	s.XValidations, s.Description = nil, ""
	for name, prop := range s.Properties {
		dropRules(&prop)
		s.Properties[name] = prop
	}
	if s.Items != nil && s.Items.Schema != nil {
		dropRules(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		dropRules(s.AdditionalProperties.Schema)
	}
}

// lintNotes returns the lints of a rule, or those named in only, and prepares :fix to run the first replacement as the
// argument of command.
func (s *Session) lintNotes(ctx context.Context, rule apiextensionsv1.ValidationRule, command string, only ...string) string {
	text := ""
	for _, l := range s.lintsOf(ctx, rule) {
		if len(only) > 0 && !slices.Contains(only, l.Name) {
			continue
		}
		text += termwidth.Fold(fmt.Sprintf("note: %s (%s)\n", printable(l.Message), l.Name), s.Width, 2)
		switch {
		case l.List != nil:
			text += fmt.Sprintf("  try:  :fix %s\n", fixListType)
		case l.Fix != "" && s.corrected == "":
			text += tryText(l.Fix, s.Width)
			s.corrected = command + l.Fix
		}
	}
	return text
}

// tryText offers a correction.
func tryText(src string, width int) string {
	return termwidth.Fold("  try:  "+printable(lex.OneLine(src))+"\n", width, 6)
}

// comparesText reports whether src may compare strings in order: it has a comparison operator. It
// saves the search for lints.
func comparesText(src string) bool {
	return strings.ContainsAny(src, "<>=") && strings.Contains(src, types.Self)
}
