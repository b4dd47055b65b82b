package engine

import (
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/types"
)

type limits = cost.Limits

var errNoType = errors.New("failed to convert to declType for CEL validation rules")

// rule is one compiled rule.
type rule struct {
	ref  RuleRef
	spec *apiextensionsv1.ValidationRule
	// expr is nil for a rule without text, which is skipped, and for one that
	// did not compile, which fails every object with compileErr.
	expr       *Expr
	compileErr string
	// message is nil when there is no messageExpression or it did not compile.
	message *Expr
	// fieldPath is normalized; "" is the rule's own place.
	fieldPath string
	optional  bool
}

func (r *rule) usesOld() bool { return r.expr != nil && r.expr.usesOld }

// isTransition: the rule runs only where there is an old value.
func (r *rule) isTransition() bool { return r.usesOld() && !r.optional }

// text is how errors name the rule.
func (r *rule) text() string {
	if r.spec.Message != "" {
		return strings.TrimSpace(r.spec.Message)
	}
	return strings.TrimSpace(r.spec.Rule)
}

// defaultMessage is what a false rule says without a messageExpression.
func (r *rule) defaultMessage() string {
	if r.spec.Message == "" {
		return "failed rule: " + r.text()
	}
	return strings.TrimSpace(r.spec.Message)
}

// rule fills in what compiling gives.
func (c *compiler) rule(r *rule, d *types.Decl, node *schema.Structural) {
	if strings.TrimSpace(r.spec.Rule) == "" {
		return
	}
	res := c.expr(d, ruleItself, r.optional, r.spec.Rule)
	if res.err != nil {
		r.compileErr = res.detail
		c.fail(r.ref, ruleItself.String(), res.err, res.detail)
		return
	}
	r.expr = res.expr
	if r.spec.MessageExpression != "" {
		res := c.expr(d, messageExpression, r.optional, r.spec.MessageExpression)
		if res.err != nil {
			c.fail(r.ref, messageExpression.String(), res.err, res.detail)
			return
		}
		r.message = res.expr
	}
	c.fieldPath(r, node)
}

func (c *compiler) fieldPath(r *rule, s *schema.Structural) {
	if r.spec.FieldPath == "" {
		return
	}
	path, err := normalizeFieldPath(r.spec.FieldPath, s)
	if err != nil {
		c.fail(r.ref, "fieldPath", err, err.Error())
		return
	}
	r.fieldPath = path
}

// normalizeFieldPath shields from upstream's parser, which panics on a path
// through additionalProperties that have no schema.
func normalizeFieldPath(path string, s *schema.Structural) (normal string, err error) {
	defer func() {
		if p := recover(); p != nil {
			normal, err = "", fmt.Errorf("does not refer to a valid field")
		}
	}()
	p, _, err := upstreamcel.ValidFieldPath(path, s)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

func (c *compiler) fail(ref RuleRef, part string, err error, detail string) {
	e := &CompileError{RuleRef: ref, Part: part, Detail: detail}
	var issues *types.IssuesError
	if errors.As(err, &issues) {
		e.Line, e.Column, e.Snippet = issues.Place()
	}
	c.errs = append(c.errs, e)
}
