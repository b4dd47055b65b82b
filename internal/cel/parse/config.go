package parse

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
)

// Config is what a parser knows, as parser.NewParser's options tell cel-go's.
// The zero Config is one without options, and so without macros.
type Config struct {
	Macros []parser.Macro
	// OptionalSyntax is for a.?b, a[?b], [?a] and {?a: b}.
	OptionalSyntax bool
	// NoEscapedIdents refuses names between backticks.
	NoEscapedIdents bool
	// MacroCalls keeps the calls that macros replaced.
	MacroCalls bool
	// VariadicOperators makes one call of a chain of && or ||, and no tree.
	VariadicOperators bool
	// OpenAccumulator calls the accumulator of comprehensions by its old name,
	// which expressions can name.
	OpenAccumulator bool
	// MaxDepth bounds nesting; 0 is cel-go's bound. It bounds the stack, too.
	MaxDepth int
	// MaxSize bounds an expression's code points; 0 is cel-go's bound.
	MaxSize int
}

const (
	defaultDepth = 250
	defaultSize  = 100_000
)

// Parser parses expressions for one environment. It is safe for concurrent use.
type Parser struct {
	config  Config
	factory ast.ExprFactory
	macros  map[macroKey]parser.Macro
	// named are the names of macros; operators is true where one of them is an
	// operator's.
	named     map[string]bool
	operators bool
	// states are those of parses that are over, to be used again.
	states sync.Pool
}

// macroKey is what calls a macro takes the place of.
type macroKey struct {
	name string
	// args is their number; varArgs for any.
	args   int
	member bool
}

const varArgs = -1

// New makes a parser.
func New(config Config) (*Parser, error) {
	if config.MaxDepth == 0 {
		config.MaxDepth = defaultDepth
	}
	if config.MaxSize == 0 {
		config.MaxSize = defaultSize
	}
	accumulator := parser.HiddenAccumulatorName
	if config.OpenAccumulator {
		accumulator = parser.AccumulatorName
	}
	p := &Parser{
		config: config, factory: ast.NewExprFactoryWithAccumulator(accumulator),
		macros: map[macroKey]parser.Macro{}, named: map[string]bool{},
	}
	for _, m := range config.Macros {
		key, err := keyOf(m.MacroKey())
		if err != nil {
			return nil, err
		}
		p.macros[key], p.named[key.name] = m, true
		if _, ok := operators.FindReverse(key.name); ok {
			p.operators = true
		}
	}
	p.states.New = func() any { return newState(p) }
	return p, nil
}

// keyOf reads a macro's key, name:args:member.
func keyOf(text string) (key macroKey, err error) {
	rest, member, ok := cutLast(text)
	name, args, found := cutLast(rest)
	key = macroKey{name: name, args: varArgs, member: member == "true"}
	if args != "*" {
		key.args, err = strconv.Atoi(args)
	}
	if !ok || !found || err != nil {
		return key, fmt.Errorf("macro: bad key (got %q, want name:arguments:member)", text)
	}
	return key, nil
}

func cutLast(text string) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}
