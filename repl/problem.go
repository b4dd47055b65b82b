package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// Problem formats an error. For an expression that does not compile, it shows the line with a caret, the
// checker's message, and hints and a fix if they are known.
func (s *Session) Problem(err error) string {
	var bad *engine.CompileError
	if !errors.As(err, &bad) {
		return termwidth.Fold("error: "+printable(err.Error())+"\n", s.Width, 2)
	}
	text := caret(bad, s.Width) + termwidth.Fold("error: "+summary(bad)+s.hint(bad)+"\n", s.Width, 2) + hintText(s.advice(bad).Words, s.Width)
	if fixed := s.fixed(bad); fixed != "" {
		text += tryText(fixed, s.Width)
	}
	return text
}

func (s *Session) fieldsHint(bad *engine.CompileError) string {
	if !strings.HasPrefix(bad.Summary(), "undefined field ") || s.hint(bad) != "" || s.advice(bad).Words != "" {
		return ""
	}
	return hintText(":ls PATH lists the fields, as does Tab after a dot", s.Width)
}

func (s *Session) fixed(bad *engine.CompileError) string { return s.problemOf(bad).Fixed(bad.Rule) }

// problemOf returns the problem of an expression that does not compile. The type that the expression must have depends
// on the command.
func (s *Session) problemOf(bad *engine.CompileError) *assist.Problem {
	p := s.helper()
	switch name, _, _ := strings.Cut(s.doing, " "); name {
	case ":add", ":edit":
		p.Part = assist.Rule
	case ":messageExpression":
		p.Part = assist.MessageExpression
	}
	defer func() { p.Part = assist.AnyExpression }()
	problem := p.ProblemOf(bad)
	return &problem
}

func (s *Session) correctedLine(bad *engine.CompileError) string {
	line := cmp.Or(s.doing, s.last.text)
	if fixed := s.fixed(bad); fixed != "" && bad.Rule != "" && strings.Contains(line, bad.Rule) {
		return strings.Replace(line, bad.Rule, fixed, 1)
	}
	return ""
}

// Hint returns a sentence on how to fix an expression that does not compile, or "" if no fix is known.
func (s *Session) Hint(bad *engine.CompileError) string {
	advice := s.advice(bad)
	return cmp.Or(printable(advice.Words), strings.TrimPrefix(didYouMean(advice.Names), "; "))
}

func hintText(words string, width int) string {
	if words == "" {
		return ""
	}
	return termwidth.Fold("  hint: "+printable(words)+"\n", width, 2)
}

func summary(bad *engine.CompileError) string {
	text := strings.ReplaceAll(bad.Summary(), " (in container '')", "")
	return printable(selfType.ReplaceAllString(text, "self"))
}

// hint returns a suggestion to append to a message: the version that added a function, or similar names.
func (s *Session) hint(bad *engine.CompileError) string {
	if match := unknownFunction.FindStringSubmatch(bad.Summary()); match != nil && s.state.kube != "" {
		if err := s.laterFunction(match[1]); err != nil {
			return "; " + err.Error()
		}
	}
	if assist.Suggests(bad.Summary()) {
		return ""
	}
	return printable(didYouMean(s.advice(bad).Names))
}

var unknownFunction = regexp.MustCompile(`^undeclared reference to '([^']+)'`)

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", strings.Join(names, " or "))
}

func (s *Session) advice(bad *engine.CompileError) assist.Advice { return s.problemOf(bad).Advice }

// caret returns the line with a caret below the error position, or "" if the position is unknown. It shows only a part
// of a line that is wider than the screen.
func caret(bad *engine.CompileError, width int) string {
	lines := strings.Split(bad.Rule, "\n")
	if bad.Line < 1 || bad.Line > len(lines) || bad.Column < 1 {
		return ""
	}
	line := printable(strings.ReplaceAll(lines[bad.Line-1], "\t", " "))
	before, after := []rune(line), ""
	if at := bad.Column - 1; at < len(before) {
		before, after = before[:at], string(before[at:])
	}
	left := string(before)
	if width > 2 && termwidth.Width(line) > width {
		available := max(width-min(termwidth.Width(after), width/2)-2, 1)
		if over := termwidth.Width(left) - available; over > 0 {
			left = termwidth.CutLeft(left, over)
		}
		after = cutLine(after, width-termwidth.Width(left))
	}
	return left + after + "\n" + strings.Repeat(" ", termwidth.Width(left)) + "^\n"
}

// How it works: :advice vets the whole CRD. After each new rule and each condition, only the lints of
// that rule are of interest, so a copy of the CRD is vetted that has no other rule and no other
// version.

// maxLintedNodes limits the size of the schemas for which lints are found after each line.
const maxLintedNodes = 20_000

// textLints are also reported for expressions. They find conditions that compare quantities and versions as text.
var textLints = []string{"text-order", "text-equality"}

func (s *Session) lintsOf(ctx context.Context, rule apiextensionsv1.ValidationRule) []vet.Lint {
	st := s.state
	if st.crd == nil || st.crd.schema(st.version) == nil || crdcopy.Nodes(st.crd.def) > maxLintedNodes {
		return nil
	}
	def := *st.crd.def
	only := *def.Spec.Versions[st.crd.version(st.version)].DeepCopy()
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

// lintNotes returns the lints of a rule, or those named in only. :fix then runs command with the first replacement.
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

func tryText(src string, width int) string {
	return termwidth.Fold("  try:  "+printable(lex.OneLine(src))+"\n", width, 6)
}

// comparesText returns false only if src has none of textLints.
func comparesText(src string) bool {
	return strings.ContainsAny(src, "<>=") && strings.Contains(src, types.Self)
}
