package rule

import (
	"errors"

	"github.com/google/cel-go/cel"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
)

// Part is a part of a rule that is an expression.
type Part uint8

const (
	// Itself is the rule.
	Itself Part = iota
	// Message is the messageExpression.
	Message
)

func (p Part) String() string {
	if p == Message {
		return "messageExpression"
	}
	return "rule"
}

// words are the API server's for one part.
type words struct {
	want                              *cel.Type
	compilation, wrongType, plan, fee string
}

var (
	ofRule = words{
		want:        cel.BoolType,
		compilation: "compilation failed: ",
		wrongType:   "cel expression must evaluate to a bool",
		plan:        "program instantiation failed: ",
		fee:         "cost estimation failed: ",
	}
	ofMessage = words{
		want:        cel.StringType,
		compilation: "messageExpression compilation failed: ",
		wrongType:   "messageExpression must evaluate to a string",
		plan:        "messageExpression instantiation failed: ",
		fee:         "cost estimation failed for messageExpression: ",
	}
)

func (p Part) words() *words {
	if p == Message {
		return &ofMessage
	}
	return &ofRule
}

// Takes is true for an expression of the part's type.
func (p Part) Takes(checked *cel.Ast) bool { return checked.OutputType() == p.words().want }

// WrongType is the API server's text for an expression of another type.
func (p Part) WrongType() string { return p.words().wrongType }

// Uncompilable is an expression that does not check.
func (k Key) Uncompilable(err error) *Refusal {
	return &Refusal{Detail: k.Part.words().compilation + err.Error(), Err: err}
}

func (c *Checked) mistyped() *Refusal {
	text := c.Part.WrongType()
	return &Refusal{Detail: text, Err: errors.New(text), Checked: c}
}

// Unplannable is an expression that checks and cannot be planned.
func (c *Checked) Unplannable(err error) *Refusal {
	return &Refusal{Detail: c.Part.words().plan + err.Error(), Err: err, Checked: c}
}

// Unpriced is an expression without an estimate.
func (c *Checked) Unpriced(err error) *Refusal {
	return &Refusal{Detail: c.Part.words().fee + err.Error(), Err: err, Checked: c}
}

// ErrNoType is the error of rules on a node that CEL has no type for.
var ErrNoType = errors.New("failed to convert to declType for CEL validation rules")

// OptionalOldSelf reads a rule's flag: true where it runs without an old value
// too.
func OptionalOldSelf(flag *bool) bool { return flag != nil && *flag }

// ErrPathPanics is the error of a field path over which upstream's parser
// panics: one through additionalProperties that have no schema.
var ErrPathPanics = errors.New("does not refer to a valid field")

// FieldPath reads a rule's fieldPath at a node, and gives it in one form.
func FieldPath(path string, s *schema.Structural) (normal string, err error) {
	defer func() {
		if recover() != nil { // nothing but upstream's function is below
			normal, err = "", ErrPathPanics
		}
	}()
	p, _, err := upstreamcel.ValidFieldPath(path, s)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}
