// Package rule is the one compiler of the parts of an x-kubernetes-validations
// rule: rule and messageExpression with the API server's words for what is wrong
// with them, optionalOldSelf, and fieldPath. What is made of an expression that
// checks is its caller's: the engine plans it, vet prices it.
package rule

import (
	"errors"
	"maps"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// How it works: an expression is known by its Key. The first of a key goes
// through types.Scope, one environment for all declarations, is held against the
// type that its part must have, and then through the caller's Finish. All others
// of that key, in whatever rule or version, get what came of the first.

// Key is all that the outcome of compiling depends on.
type Key struct {
	Decl     *types.Decl // of self
	Part     Part
	Optional bool // oldSelf is an optional
	Source   string
}

// Checked is an expression of its part's type.
type Checked struct {
	Key
	AST *cel.Ast
	Env *cel.Env
}

// UsesOldSelf is true when the expression mentions oldSelf.
func (c *Checked) UsesOldSelf() bool { return expr.Mentions(c.AST, types.OldSelf) }

// Refusal is an expression that the API server refuses.
type Refusal struct {
	// Detail is the server's text.
	Detail string
	// Err is what the text was made of; a *types.IssuesError knows the place, and a
	// *types.PanicError is a server's own panic.
	Err error
	// Checked is nil where the expression does not even check.
	Checked *Checked
}

func (r *Refusal) Error() string { return r.Detail }

// Config says what a compiler makes of expressions.
type Config[T any] struct {
	Env *types.Env
	// NotYet says why a server does not know an expression that Env checks; ""
	// where it does. Nil: Env is right.
	NotYet func(*cel.Ast) string
	// Finish makes of a checked expression what is wanted of it. Its error is a
	// *Refusal, or ends all compiling.
	Finish func(*Checked) (T, error)
	// Complex makes something of an expression that is too complex to be checked.
	// Nil: that ends all compiling.
	Complex func(Key, *types.ComplexError) T
}

// Compiler compiles expressions, equal ones over equal declarations once. It is
// not safe for concurrent use.
type Compiler[T any] struct {
	Config[T]
	scope *types.Scope // nil before the first expression
	known map[Key]*outcome[T]
}

type outcome[T any] struct {
	value   T
	refused *Refusal
}

// NewCompiler makes a compiler.
func NewCompiler[T any](cfg Config[T]) *Compiler[T] {
	return &Compiler[T]{Config: cfg, known: map[Key]*outcome[T]{}}
}

// Compile compiles an expression, or finds it compiled. Refused is nil for one
// that the server takes; the error is of no expression.
func (c *Compiler[T]) Compile(key Key) (value T, refused *Refusal, err error) {
	if known := c.known[key]; known != nil {
		return known.value, known.refused, nil
	}
	one := &outcome[T]{}
	one.value, err = c.compile(key)
	if errors.As(err, &one.refused) {
		err = nil
	}
	if err != nil {
		return value, nil, err
	}
	c.known[key] = one
	return one.value, one.refused, nil
}

func (c *Compiler[T]) compile(key Key) (value T, err error) {
	scope, err := c.Scope()
	if err != nil {
		return value, err
	}
	checked, err := scope.Compile(key.Decl, key.Optional, key.Source)
	var complex *types.ComplexError
	if errors.As(err, &complex) && c.Complex != nil {
		return c.Complex(key, complex), nil
	}
	var issues *types.IssuesError
	var panicked *types.PanicError
	switch {
	case errors.As(err, &issues), errors.As(err, &panicked):
		return value, key.Uncompilable(err)
	case err != nil:
		return value, err
	}
	if c.NotYet != nil {
		if text := c.NotYet(checked); text != "" {
			return value, key.Uncompilable(errors.New(text))
		}
	}
	x := &Checked{Key: key, AST: checked, Env: scope.Env()}
	if !key.Part.Takes(checked) {
		return value, x.mistyped()
	}
	return c.Finish(x)
}

// Knows is true of expressions that were compiled.
func (c *Compiler[T]) Knows(key Key) bool { return c.known[key] != nil }

// Join takes over what another compiler of the same Config compiled; nothing where
// both together compiled more than one may.
func (c *Compiler[T]) Join(other *Compiler[T]) {
	if c.scope == nil || other.scope == nil || !c.scope.Join(other.scope) {
		return
	}
	maps.Copy(c.known, other.known)
}

// Scope is the one environment of all declarations.
func (c *Compiler[T]) Scope() (*types.Scope, error) {
	if c.scope != nil {
		return c.scope, nil
	}
	scope, err := c.Env.Scope()
	if err == nil {
		c.scope = scope
	}
	return scope, err
}
