package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// reasons are the values of reason that the API server accepts.
var reasons = []string{
	string(apiextensionsv1.FieldValueDuplicate),
	string(apiextensionsv1.FieldValueForbidden),
	string(apiextensionsv1.FieldValueInvalid),
	string(apiextensionsv1.FieldValueRequired),
}

func (s *Session) rulesHere() []apiextensionsv1.ValidationRule {
	if s.state.crd == nil || s.state.location.help.Schema == nil {
		return nil
	}
	return s.state.location.help.Schema.XValidations
}

func rules(ctx context.Context, s *Session, arg string) (string, error) {
	number, rejected := strings.CutSuffix(arg, " "+rejectedFlag)
	_, err := strconv.Atoi(number)
	switch {
	case arg == "all":
		return s.rulesAll(ctx)
	case arg == "" && len(s.rulesHere()) == 0:
		return s.rulesBelow(ctx, s.state.location)
	case arg == "":
		ran, err := s.run(ctx)
		if err != nil {
			return "", err
		}
		return s.rulesAt(s.state.location, ran, true, allRules).text(s.Width), nil
	case err != nil:
		return "", fmt.Errorf(":rules %s: want all, a number, a number with %s, or no argument", arg, rejectedFlag)
	}
	n, err := s.numbered(number)
	switch {
	case err != nil:
		return "", err
	case rejected:
		return s.rejectedBy(ctx, n)
	}
	return s.wholeRule(ctx, n)
}

const rejectedFlag = "--rejected"

func (s *Session) wholeRule(ctx context.Context, n int) (string, error) {
	ran, err := s.run(ctx)
	if err != nil {
		return "", err
	}
	text, err := emit.YAML(s.rulesHere()[n])
	rejects := s.rejectsText(ran, engine.RuleRef{Path: s.state.location.pattern(), Index: n})
	ran.objects = 0 // so that it is not printed twice
	l := s.rulesAt(s.state.location, ran, false, n)
	l.costly, l.rows[0] = false, l.rows[0][:len(l.rows[0])-1]
	return l.text(s.Width) + indent(rejects) + indent(printable(string(text))), err
}

type verdicts struct {
	ran map[engine.RuleRef]engine.RuleResult
	// objects is the number of objects of the collection that were tried.
	rejected map[engine.RuleRef]*tally
	objects  int
}

func (s *Session) run(ctx context.Context) (v verdicts, err error) {
	if v.rejected, v.objects, err = s.tallies(ctx); err == nil {
		v.ran, err = s.runOne(ctx)
	}
	return v, err
}

func (s *Session) runOne(ctx context.Context) (map[engine.RuleRef]engine.RuleResult, error) {
	seen := s.state.here()
	if seen == nil {
		return nil, nil
	}
	results, _, err := seen.RunRules(ctx)
	if errors.As(err, new(*engine.WorkLimitError)) {
		err = nil // the results name the rules
	}
	ran := map[engine.RuleRef]engine.RuleResult{}
	for _, r := range results {
		ran[engine.RuleRef{Path: r.Path, Index: r.Index}] = r
	}
	return ran, err
}

type listing struct {
	rows   [][]string
	total  uint64
	costly bool // some rule exceeds the cost limit
	notes  string
}

func (l *listing) text(width int) string {
	head := []string{"", "verdict", "cost", "estimate", "limit", "rule"}
	text := table(append([][]string{head[:len(l.rows[0])]}, l.rows...), width)
	if l.costly {
		text += costlyHint
	}
	return text + termwidth.Fold(printable(l.notes), width, 2)
}

const (
	broken       = "broken"
	tooExpensive = "too expensive"
	costlyHint   = tooExpensive + ": run :advice for suggestions\n"
)

const allRules = -1

// rulesAt lists the rules at p. only is an index, or allRules. If parts is set, messages and other fields are listed
// below the rules.
func (s *Session) rulesAt(p *location, ran verdicts, parts bool, only int) *listing {
	l := &listing{}
	if p.help.Schema == nil {
		return l
	}
	limit := uint64(s.limits.WithDefaults().EstimatedPerRule)
	for i, rule := range p.help.Schema.XValidations {
		if only != allRules && only != i {
			continue
		}
		ref := engine.RuleRef{Path: p.pattern(), Index: i}
		result, did := ran.ran[ref]
		verdict, spent := verdictOn(&result)
		if obj := s.state.visible(s.state.object); obj != nil && !did {
			verdict = "did not run: " + s.whyNot(p, &rule, obj, ran.ran)
		}
		most, headroom := "-", "-"
		if x, err := p.compile(rule.Rule, rule.OptionalOldSelf); err != nil {
			verdict = broken
		} else {
			s.noteStatus(x, p.steps)
			total := p.help.Price(x).Total
			l.total = cost.Add(l.total, total)
			most, headroom = phrase.Number(total), phrase.Share(total, limit)
			if total > limit {
				verdict, l.costly = tooExpensive, true
			}
			if b := s.barrierOf(p, &rule); b != nil {
				if verdict = noOldSelf; l.notes == "" {
					l.notes = b.note(phrase.Rule(p.pattern(), i))
				}
			}
		}
		l.rows = append(l.rows, []string{strconv.Itoa(i), verdict, spent, most, headroom, lex.Flat(rule.Rule)})
		var more []string
		if text := s.rejectsText(ran, ref); text != "" && verdict != broken {
			more = append(more, text)
		}
		if parts {
			more = append(more, partsOf(&rule)...)
		}
		for _, part := range more {
			l.rows = append(l.rows, []string{"", "", "", "", "", "  " + part})
		}
	}
	return l
}

func (p *location) compile(src string, optional *bool) (*expr.Expr, error) {
	if p.compiler == nil {
		return nil, ErrNoCRD
	}
	return p.compiler.Compile(src, expr.HasOptionalOldSelf(optional))
}

// verdictOn describes the result of a rule, and its cost. "fails" means that the rule is false.
func verdictOn(r *engine.RuleResult) (verdict, spent string) {
	switch spent = phrase.Number(uint64(r.Cost)); {
	case r.Runs == 0:
		return "-", "-"
	case r.Failed+r.Undecided == 0:
		return "ok", spent
	}
	var parts []string
	for _, part := range []struct {
		n    int
		text string
	}{{r.Failed - r.Errors, "fails"}, {r.Errors, "error"}, {r.Undecided, "undecided"}} {
		switch {
		case part.n > 0 && r.Runs > 1:
			parts = append(parts, fmt.Sprintf("%s %d", part.text, part.n))
		case part.n > 0:
			parts = append(parts, part.text)
		}
	}
	verdict = strings.Join(parts, ", ")
	if r.Runs > 1 {
		verdict += fmt.Sprintf(" of %d", r.Runs)
	}
	if r.OverBudget {
		verdict += " (cost limit)"
	}
	return verdict, spent
}

func (s *Session) whyNot(p *location, rule *apiextensionsv1.ValidationRule, obj map[string]any, ran map[engine.RuleRef]engine.RuleResult) string {
	spent := int64(0)
	for _, r := range ran {
		spent += r.Cost
	}
	x, err := p.compile(rule.Rule, rule.OptionalOldSelf)
	var values [][]engine.Step
	elements(obj, p.patternSteps(), nil, &values)
	switch {
	case err != nil:
		return broken
	case len(values) == 0:
		return "no value"
	case spent >= int64(s.limits.WithDefaults().PerObject):
		return "budget spent"
	case x.UsesOldSelf() && s.state.visible(s.state.old) == nil:
		return "no old object"
	case x.UsesOldSelf():
		return "no old value"
	}
	return "not reached"
}

func partsOf(r *apiextensionsv1.ValidationRule) []string {
	reason, optional := "", ""
	if r.Reason != nil {
		reason = string(*r.Reason)
	}
	if r.OptionalOldSelf != nil {
		optional = strconv.FormatBool(*r.OptionalOldSelf)
	}
	var out []string
	for _, part := range [][2]string{
		{"message", r.Message}, {"messageExpression", r.MessageExpression}, {"reason", reason}, {"fieldPath", r.FieldPath}, {"optionalOldSelf", optional},
	} {
		if part[1] != "" {
			out = append(out, part[0]+": "+lex.OneLine(part[1]))
		}
	}
	return out
}

func (s *Session) rulesAll(ctx context.Context) (string, error) {
	text, total, err := s.rulesAtPaths(ctx, rulePaths(s.state.crd.schema(s.state.version), nil))
	if err != nil {
		return "", err
	}
	limit := uint64(s.limits.WithDefaults().EstimatedPerCRD)
	return text + termwidth.Fold(fmt.Sprintf("all rules: estimate %s, %s of the limit for version %s\n", phrase.Number(total), phrase.Share(total, limit), s.state.version), s.Width, 2), nil
}

func (s *Session) rulesBelow(ctx context.Context, p *location) (string, error) {
	steps := p.patternSteps()
	text, _, err := s.rulesAtPaths(ctx, rulePaths(p.help.Schema, steps))
	at := phrase.Path(p.path())
	switch {
	case err != nil:
		return "", err
	case text == "" && len(steps) > 0:
		return termwidth.Fold(fmt.Sprintf("no rules at or below %s: run :add RULE, or :rules all\n", at), s.Width, 2), nil
	case text == "" && s.state.crd.builtins != nil:
		return "", errBuiltinRules
	case text == "":
		return "no rules: run :add RULE\n", nil
	}
	return termwidth.Fold(fmt.Sprintf("no rules at %s; rules below it:\n", at), s.Width, 2) + text, nil
}

func (s *Session) rulesAtPaths(ctx context.Context, paths [][]engine.Step) (text string, total uint64, err error) {
	var b strings.Builder
	var locations []*location
	for _, path := range paths {
		p, err := newLocation(s.state.crd, s.state.version, path, nil)
		if err != nil {
			return "", 0, err
		}
		locations = append(locations, p)
	}
	ran, err := s.run(ctx)
	if err != nil {
		return "", 0, err
	}
	costly, notes := false, ""
	for _, p := range locations {
		l := s.rulesAt(p, ran, false, allRules)
		total, costly, notes = cost.Add(total, l.total), costly || l.costly, notes+l.notes
		l.costly, l.notes = false, "" // reported once
		fmt.Fprintf(&b, "%s\n%s", phrase.Path(p.pattern()), indent(l.text(max(0, s.Width-2))))
	}
	if costly {
		b.WriteString(costlyHint)
	}
	return b.String() + termwidth.Fold(printable(notes), s.Width, 2), total, nil
}

func rulePaths(s *apiextensionsv1.JSONSchemaProps, at []engine.Step) [][]engine.Step {
	if s == nil {
		return nil
	}
	var out [][]engine.Step
	if len(s.XValidations) > 0 {
		out = append(out, at)
	}
	for step, child := range crdcopy.Children(s) {
		out = append(out, rulePaths(child, append(slices.Clone(at), step))...)
	}
	return out
}
