package vet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

type rule struct {
	unit   *unit
	at     *branch
	index  int // in x-kubernetes-validations
	number int // in the unit
	spec   *apiextensions.ValidationRule
	path   *field.Path // of the rule in the CRD

	cardinality cost.Cardinality
	times       uint64
	expr        *compiled // nil if the rule is empty or was not compiled
	message     *compiled // nil if missing or the rule does not compile
	total       uint64
}

type visit struct {
	a        *admission
	u        *unit
	errs     errorPaths // errors of the server's function in the schema
	schema   field.ErrorList
	cel      field.ErrorList
	sound    bool
	suppress bool // no cost limit for a single rule; see exempt
	panicked error
}

// own are the errors of the server's function.
func (a *admission) unit(u *unit, own field.ErrorList) (field.ErrorList, error) {
	v := &visit{a: a, u: u, errs: u.ofSchema(own), suppress: a.exempt(u)}
	u.total = cost.NewTotal(a.limits)
	var rejected errorPaths
	_, v.sound, rejected = u.structure(a.ctx, v.errs)
	var defaults field.ErrorList
	if v.sound {
		d := &defaultRules{ctx: a.ctx, kubeVersion: a.version.String(), rejected: rejected, budget: celconfig.RuntimeCELCostBudget}
		if err := d.walk(u.schemaPath(), u.tree, true); err != nil {
			return nil, err
		}
		defaults = d.errs
		if a.undecided == nil {
			a.undecided = d.undecided
		}
		v.sound = len(defaults) == 0 && len(rejected) == 0
	}
	if _, err := v.branch(u.tree, u.schemaPath(), cost.Cardinality{}, nil); err != nil {
		return nil, err
	}
	errs := append(append(defaults, v.schema...), v.cel...)
	if v.sound && u.total.Exceeded() && !a.cfg.Stored {
		errs = append(errs, a.totalErrors(u)...)
	}
	return errs, nil
}

func (a *admission) exempt(u *unit) bool {
	return a.cfg.Stored || a.unchanged[u.name] && exemptUnchanged.Include(a.version.Minor)
}

func (a *admission) totalErrors(u *unit) field.ErrorList {
	var errs field.ErrorList
	for _, share := range u.total.Top {
		r := u.rules[share.ID/2]
		part := "rule"
		if share.ID%2 == 1 {
			part = "messageExpression"
		}
		err := field.Forbidden(r.path.Child(part), "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema")
		a.refs[err], a.kinds[err] = r, engine.CauseShareOfCost
		errs = append(errs, err)
	}
	const subject = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
	total := field.Forbidden(u.schemaPath(), cost.ExceedsText(subject, u.total.Sum, uint64(a.limits.EstimatedPerCRD)))
	a.kinds[total] = engine.CauseTotalCost
	return append(errs, total)
}

// branch visits the children of b first, because an error in them keeps the rules of b from being compiled; tainted
// reports such an error. barrier is the outermost ancestor whose parts cannot be correlated, or nil.
func (v *visit) branch(b *branch, path *field.Path, c cost.Cardinality, barrier *field.Path) (tainted bool, err error) {
	below := b.cardinality(c)
	for _, child := range b.children {
		over := barrier
		if over == nil && !b.correlates(child) {
			over = path
		}
		bad, err := v.branch(child, child.below(path), below, over)
		if err != nil {
			return false, err
		}
		tainted = tainted || bad
	}
	if len(b.props.XValidations) == 0 {
		return tainted, nil
	}
	at := path.Child("x-kubernetes-validations")
	first := len(v.u.rules)
	for i := range b.props.XValidations {
		r := &rule{unit: v.u, at: b, index: i, number: first + i, spec: &b.props.XValidations[i], path: at.Index(i), cardinality: c}
		errs := v.texts(r)
		if v.panicked != nil {
			return false, v.panicked
		}
		v.schema = append(v.schema, errs...)
		tainted = tainted || len(errs) > 0
		v.u.rules = append(v.u.rules, r)
	}
	shown := v.sound && !tainted && (len(v.errs) == 0 || !v.errs.below(path.String()))
	return tainted, v.node(b, at, v.u.rules[first:], barrier, shown)
}

// node compiles the rules of a node, for the report also rules that the server does not reach; shown is set if the
// server compiles them.
func (v *visit) node(b *branch, at *field.Path, rules []*rule, barrier *field.Path, shown bool) error {
	s, err := b.typed(v.a.compiler.decls)
	if err == nil && s.decl == nil {
		err = expr.ErrNoType
	}
	if err == errPanics && shown {
		return err
	}
	if err != nil {
		if shown {
			v.cel = append(v.cel, field.InternalError(at, internalText(err)))
		}
		return nil
	}
	for _, r := range rules {
		r.times = r.cardinality.Times(s.decl)
		r.expr, r.message, err = v.a.compileRule(r.spec, s.decl)
		if complex := (*celenv.ComplexError)(nil); errors.As(err, &complex) {
			v.a.complex = cmp.Or(v.a.complex, complex)
			continue
		}
		if err != nil {
			return err
		}
		if err := v.panics(r); err != nil && shown {
			return err
		}
		r.total = cost.Mul(r.expr.estimate(), r.times)
		if shown {
			v.checkRule(r, barrier)
		}
	}
	return nil
}

func (v *visit) panics(r *rule) error {
	switch {
	case r.expr != nil && r.expr.panics:
		return v.a.panics(r, "rule", r.expr.detail)
	case r.message != nil && r.message.panics:
		return v.a.panics(r, "messageExpression", r.message.detail)
	}
	return nil
}

// As in the server, messageExpression is compiled only if the rule compiles.
func (a *admission) compileRule(spec *apiextensions.ValidationRule, d *types.Decl) (itself, message *compiled, err error) {
	if blank(spec.Rule) {
		return nil, nil, nil
	}
	key := expr.Key{Decl: d, Part: expr.Itself, Optional: expr.HasOptionalOldSelf(spec.OptionalOldSelf), Source: spec.Rule}
	itself, err = a.compiler.expr(key, a.oldRules[spec.Rule])
	if err != nil || itself.rejected || spec.MessageExpression == "" {
		return itself, nil, err
	}
	key.Part, key.Source = expr.Message, spec.MessageExpression
	message, err = a.compiler.expr(key, a.oldMessages[spec.MessageExpression])
	return itself, message, err
}

func (v *visit) checkRule(r *rule, barrier *field.Path) {
	limit, id := uint64(v.a.limits.EstimatedPerRule), 2*r.number
	if !v.suppress && r.total > limit {
		v.failCost(r, "rule", "estimated rule cost", r.total)
	}
	v.u.total.Add(id, r.total)
	if r.expr != nil && r.expr.rejected {
		v.fail(r, field.Invalid(r.path.Child("rule"), *r.spec, r.expr.detail))
	}
	switch m := r.message; {
	case m == nil:
	case m.rejected:
		v.fail(r, field.Invalid(r.path.Child("messageExpression"), *r.spec, m.detail))
	default:
		if !v.suppress && r.message.estimate() > limit {
			v.failCost(r, "messageExpression", "estimated messageExpression cost", r.message.estimate())
		}
		v.u.total.Add(id+1, r.message.estimate())
	}
	v.old(r, barrier)
}

func (v *visit) old(r *rule, barrier *field.Path) {
	usesOld := r.expr != nil && r.expr.usesOld
	switch {
	case usesOld && barrier != nil:
		v.fail(r, field.Invalid(r.path.Child("rule"), r.spec.Rule, fmt.Sprintf("oldSelf cannot be used on the uncorrelatable portion of the schema within %v", barrier)))
	case !usesOld && r.spec.OptionalOldSelf != nil:
		v.fail(r, field.Invalid(r.path.Child("optionalOldSelf"), *r.spec.OptionalOldSelf, "may not be set if oldSelf is not used in rule"))
	}
}

func (v *visit) failCost(r *rule, part, subject string, estimate uint64) {
	err := field.Forbidden(r.path.Child(part), cost.ExceedsText(subject, estimate, uint64(v.a.limits.EstimatedPerRule)))
	v.a.kinds[err] = engine.CauseRuleCost
	v.fail(r, err)
}

func (v *visit) fail(r *rule, err *field.Error) {
	v.a.refs[err] = r
	v.cel = append(v.cel, err)
}

func hasLineBreak(s string) bool { return strings.ContainsAny(s, "\n\r") }

// The server lists the reasons in this order.
var supportedReasons = []apiextensions.FieldValueErrorReason{
	apiextensions.FieldValueDuplicate, apiextensions.FieldValueForbidden, apiextensions.FieldValueInvalid, apiextensions.FieldValueRequired,
}

func (v *visit) texts(r *rule) (errs field.ErrorList) {
	s, message := r.spec, strings.TrimSpace(r.spec.Message)
	fail := func(err *field.Error) {
		v.a.refs[err] = r
		errs = append(errs, err)
	}
	switch {
	case blank(s.Rule):
		fail(field.Required(r.path.Child("rule"), "rule is not specified"))
	case s.Message != "" && message == "":
		fail(field.Invalid(r.path.Child("message"), s.Message, "must be non-empty if specified"))
	case hasLineBreak(message):
		fail(field.Invalid(r.path.Child("message"), s.Message, "must not contain line breaks"))
	case message == "" && hasLineBreak(strings.TrimSpace(s.Rule)):
		fail(field.Required(r.path.Child("message"), "message must be specified if rule contains line breaks"))
	}
	if s.MessageExpression != "" && blank(s.MessageExpression) {
		fail(field.Required(r.path.Child("messageExpression"), "messageExpression must be non-empty if specified"))
	}
	if s.Reason != nil && !slices.Contains(supportedReasons, *s.Reason) {
		fail(field.NotSupported(r.path.Child("reason"), *s.Reason, supportedReasons))
	}
	if s.FieldPath != "" {
		v.fieldPath(r, fail)
	}
	return errs
}

func (v *visit) fieldPath(r *rule, fail func(*field.Error)) {
	text, at := r.spec.FieldPath, r.path.Child("fieldPath")
	if blank(text) {
		fail(field.Invalid(at, text, "must be non-empty if specified"))
	}
	if hasLineBreak(text) {
		fail(field.Invalid(at, text, "must not contain line breaks"))
	}
	node, err := r.at.structuralNode()
	if err != nil {
		return
	}
	switch _, err := expr.FieldPath(text, node); {
	case errors.Is(err, expr.ErrPathPanics):
		v.panicked = v.a.panics(r, "fieldPath", "the server's parser panics over a path through additionalProperties that have no schema")
	case err != nil:
		fail(field.Invalid(at, text, "must be a valid path"))
	}
}
