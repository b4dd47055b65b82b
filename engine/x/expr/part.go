package expr

import (
	"errors"

	"github.com/google/cel-go/cel"
)

// A Part is a part of a rule that is an expression.
type Part uint8

const (
	// Itself is the rule's expression.
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

// words holds the API server's message prefixes for a part.
type words struct {
	want                                       *cel.Type
	compilation, wrongType, plan, fee, untyped string
}

var (
	ofRule = words{
		want:        cel.BoolType,
		compilation: "compilation failed: ",
		wrongType:   "cel expression must evaluate to a bool",
		plan:        "program instantiation failed: ",
		fee:         "cost estimation failed: ",
		untyped:     "unexpected compilation error: ",
	}
	ofMessage = words{
		want:        cel.StringType,
		compilation: "messageExpression compilation failed: ",
		wrongType:   "messageExpression must evaluate to a string",
		plan:        "messageExpression instantiation failed: ",
		fee:         "cost estimation failed for messageExpression: ",
		untyped:     "unexpected messageExpression compilation error: ",
	}
)

func (p Part) words() *words {
	if p == Message {
		return &ofMessage
	}
	return &ofRule
}

// Takes reports whether a checked expression has the type that the part requires.
func (p Part) Takes(checked *cel.Ast) bool { return checked.OutputType() == p.words().want }

// WrongType returns the API server's message for an expression of another type.
func (p Part) WrongType() string { return p.words().wrongType }

// Uncompilable returns the Rejection for an expression that does not pass the checker.
func (k Key) Uncompilable(err error) *Rejection {
	return &Rejection{Detail: k.Part.words().compilation + err.Error(), Err: err}
}

func (k Key) untyped(err error) *Rejection {
	return &Rejection{Detail: k.Part.words().untyped + err.Error(), Err: err}
}

func (c *Checked) mistyped() *Rejection {
	text := c.Part.WrongType()
	return &Rejection{Detail: text, Err: errors.New(text), Checked: c}
}

// Unplannable returns the Rejection for a checked expression that cannot be planned.
func (c *Checked) Unplannable(err error) *Rejection {
	return &Rejection{Detail: c.Part.words().plan + err.Error(), Err: err, Checked: c}
}

// Unpriced returns the Rejection for an expression whose cost cannot be estimated.
func (c *Checked) Unpriced(err error) *Rejection {
	return &Rejection{Detail: c.Part.words().fee + err.Error(), Err: err, Checked: c}
}

// ErrNoType is the error for rules on a node that has no CEL type.
var ErrNoType = errors.New("failed to convert to declType for CEL validation rules")

// OptionalOldSelf reports whether a rule sets optionalOldSelf to true.
func HasOptionalOldSelf(flag *bool) bool { return flag != nil && *flag }
