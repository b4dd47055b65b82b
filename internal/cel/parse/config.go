package parse

import (
	"strings"
	"sync"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
)

// Config configures a parser like the options of parser.NewParser in cel-go. The zero Config
// corresponds to no options, and thus has no macros.
type Config struct {
	Macros []parser.Macro
	// OptionalSyntax accepts a.?b, a[?b], [?a], and {?a: b}.
	OptionalSyntax bool
	// NoEscapedIdents rejects names in backticks.
	NoEscapedIdents bool
	// Surrogates accepts escape sequences of surrogates, such as \ud800, as U+FFFD.
	Surrogates bool
	// OpenAccumulator uses the old name of the accumulator in comprehensions, which expressions can
	// refer to.
	OpenAccumulator bool
	// MaxDepth limits nesting and therefore the stack. 0 means cel-go's limit.
	MaxDepth int
	// MaxSize limits the length of an expression in code points. 0 means cel-go's limit.
	MaxSize int
}

const (
	defaultDepth = 250
	defaultSize  = 100_000
)

// A Parser parses expressions for an environment. It is safe for concurrent use.
type Parser struct {
	config  Config
	factory ast.ExprFactory
	macros  map[macroKey]parser.Macro
	// named holds the names of macros. operators is set if a macro replaces an operator.
	named     map[string]bool
	operators bool
	states    sync.Pool
}

type macroKey struct {
	name string
	// args is the number of arguments, or varArgs for any number.
	args   int
	member bool
}

const varArgs = -1

// New returns a parser.
func New(config Config) *Parser {
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
		key := macroKey{m.Function(), m.ArgCount(), m.IsReceiverStyle()}
		if strings.Contains(m.MacroKey(), ":*:") {
			key.args = varArgs
		}
		p.macros[key], p.named[key.name] = m, true
		if _, ok := operators.FindReverse(key.name); ok {
			p.operators = true
		}
	}
	p.states.New = func() any {
		s := &state{Parser: p}
		s.helper.state = s
		return s
	}
	return p
}
