package expr

import (
	"errors"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// How it works: the first expression with a given Key is checked in a celenv.Scope, which uses a
// single environment for all declarations. Then its type is compared with the type that its part
// requires, and the caller's Finish is called: the engine plans the expression, and vet estimates
// its cost. All later expressions with the same key, in any rule or version, share that result.

// A Key identifies an expression. For one KeyedCompiler, expressions with equal keys have the same result.
type Key struct {
	Decl     *types.Decl // of self
	Part     Part
	Optional bool // oldSelf is an optional
	Source   string
}

// A Checked is an expression that passed the checker.
type Checked struct {
	Key
	Version types.Version
	AST     *cel.Ast
	Env     *cel.Env
}

// UsesOldSelf reports whether the expression mentions oldSelf.
func (c *Checked) UsesOldSelf() bool { return Mentions(c.AST, types.OldSelf) }

// A Rejection is the error for an expression that the API server rejects.
type Rejection struct {
	// Detail is the server's message.
	Detail string
	// Err is the underlying error. A *celenv.IssuesError has the position, and a *celenv.PanicError
	// is a panic that the server would also have.
	Err error
	// Checked is nil if the expression does not pass the checker.
	Checked *Checked
}

func (r *Rejection) Error() string { return r.Detail }

// KeyedConfig configures a KeyedCompiler.
type KeyedConfig[T any] struct {
	Env *celenv.Env
	// Finish converts a checked expression to the caller's form. Compile returns its error unless that is a *Rejection.
	Finish func(*Checked) (T, error)
	// Complex returns the value for an expression that is too complex to be checked, or whose error exceeds the limit
	// on reported errors. If Complex is nil, Compile returns the ComplexError.
	Complex func(Key, *celenv.ComplexError) T
}

// A KeyedCompiler compiles the parts of x-kubernetes-validations rules, with the API server's error
// messages. Expressions with equal keys are compiled once. It is not safe for concurrent use.
type KeyedCompiler[T any] struct {
	KeyedConfig[T]
	scope *celenv.Scope
	known map[Key]*outcome[T]
}

type outcome[T any] struct {
	value    T
	rejected *Rejection
}

// NewKeyedCompiler returns a KeyedCompiler for cfg.
func NewKeyedCompiler[T any](cfg KeyedConfig[T]) *KeyedCompiler[T] {
	return &KeyedCompiler[T]{KeyedConfig: cfg, known: map[Key]*outcome[T]{}}
}

// Compile compiles an expression, or returns the earlier result for its key. rejected is nil if the
// server accepts the expression, or if the value comes from Complex. err is set if compilation as a
// whole failed.
func (c *KeyedCompiler[T]) Compile(key Key) (value T, rejected *Rejection, err error) {
	one := c.known[key]
	if one == nil {
		one = &outcome[T]{}
		one.value, err = c.compile(key)
		if err != nil && !errors.As(err, &one.rejected) {
			return value, nil, err
		}
		c.known[key] = one
	}
	if one.rejected == nil {
		return one.value, nil, nil
	}
	complex := c.scope.Report(one.rejected.Detail)
	switch {
	case complex == nil:
		return one.value, one.rejected, nil
	case c.Complex == nil:
		return value, nil, complex
	}
	return c.Complex(key, complex), nil, nil
}

func (c *KeyedCompiler[T]) compile(key Key) (value T, err error) {
	scope, err := c.Scope()
	if err != nil {
		return value, err
	}
	checked, err := scope.Compile(key.Decl, key.Optional, key.Source)
	var complex *celenv.ComplexError
	if errors.As(err, &complex) && c.Complex != nil {
		return c.Complex(key, complex), nil
	}
	var issues *celenv.IssuesError
	var panicked *celenv.PanicError
	var untyped celenv.UntypedError
	switch {
	case errors.As(err, &untyped):
		return value, key.untyped(err)
	case errors.As(err, &issues), errors.As(err, &panicked):
		return value, key.Uncompilable(err)
	case err != nil:
		return value, err
	}
	x := &Checked{Key: key, Version: c.Env.Version(), AST: checked, Env: scope.Env()}
	if !key.Part.Takes(checked) {
		return value, x.mistyped()
	}
	return c.Finish(x)
}

// Scope returns the celenv.Scope in which c checks expressions.
func (c *KeyedCompiler[T]) Scope() (*celenv.Scope, error) {
	if c.scope != nil {
		return c.scope, nil
	}
	scope, err := c.Env.Scope()
	if err == nil {
		c.scope = scope
	}
	return scope, err
}

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

// HasOptionalOldSelf reports whether a rule sets optionalOldSelf to true.
func HasOptionalOldSelf(flag *bool) bool { return flag != nil && *flag }
