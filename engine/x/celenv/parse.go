package celenv

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/parser"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/cel/upstream"
)

// Parse parses src in env, like env.Parse. Celadon's parser returns the same tree as cel-go's in a
// fifteenth of the time. It can be removed when the cel-go version used by k8s.io is as fast. The
// error is a *ComplexError, or an *IssuesError with cel-go's messages.
func Parse(env *cel.Env, src string) (*cel.Ast, error) {
	known := parserOf(env)
	parsed, err := known.parse(env, src)
	if errors.Is(err, errSyntax) {
		return known.upstream(env, src)
	}
	return parsed, err
}

// errSyntax is the error of knownParser.parse for which cel-go's parser has the messages.
var errSyntax = errors.New("cel-go's parser reports the errors")

// The error is errSyntax or a *ComplexError.
func (k *knownParser) parse(env *cel.Env, src string) (*cel.Ast, error) {
	source := parse.NewSource(src)
	tree, err := k.of(src).Parse(source)
	switch {
	case errors.Is(err, parse.ErrFlood):
		return nil, &ComplexError{flood: err}
	case upstream.CEL || err != nil:
		return nil, errSyntax
	}
	parsed := cel.ParsedExprToAstWithSource(nil, source)
	*parsed.NativeRep() = *tree
	return k.qualify(env, parsed, src), nil
}

func (k *knownParser) upstream(env *cel.Env, src string) (*cel.Ast, error) {
	parsed, issues := k.celgo(env, src)
	if issues != nil {
		return nil, newIssuesError(common.NewTextSource(src), issues)
	}
	return k.qualify(env, parsed, src), nil
}

func (k *knownParser) qualify(env *cel.Env, parsed *cel.Ast, src string) *cel.Ast {
	if k.qualifiedFirst && mayHideNames(src) {
		qualifyNames(env, parsed.NativeRep().Expr())
	}
	return parsed
}

const optionalTypes = "cel.lib.optional"

// parsers caches the parsers of all environments until the process exits. There are few, because
// the environments of a version share their macros.
var parsers struct {
	sync.RWMutex
	known []*knownParser
}

type grammar struct {
	macros []cel.Macro
	// optional is set if expressions can use the syntax of optionals, plain if names cannot be in
	// backticks, open if expressions can name the accumulator of macros, surrogates if strings can
	// have escape sequences of surrogates, and qualifiedFirst if the variables of macros do not hide
	// qualified names.
	optional, plain, open, surrogates, qualifiedFirst bool
}

func grammarOf(env *cel.Env) grammar {
	return grammar{
		macros: env.Macros(), optional: env.HasLibrary(optionalTypes), plain: env.HasLibrary(string(plainNames)),
		open: env.HasLibrary(string(openAccumulator)), surrogates: env.HasLibrary(string(surrogateEscapes)),
		qualifiedFirst: env.HasLibrary(string(qualifiedFirst)),
	}
}

func (g grammar) equal(other grammar) bool {
	return g.optional == other.optional && g.plain == other.plain && g.open == other.open && g.surrogates == other.surrogates &&
		g.qualifiedFirst == other.qualifiedFirst && slices.Equal(g.macros, other.macros)
}

type knownParser struct {
	grammar
	parser *parse.Parser
	// accumulators parses expressions that name the accumulator. It is nil if that is not possible.
	accumulators *parse.Parser
}

// maxParsers limits the cache, because callers can pass any environment to Check.
const maxParsers = 64

func parserOf(env *cel.Env) *knownParser {
	g := grammarOf(env)
	parsers.RLock()
	i := slices.IndexFunc(parsers.known, func(k *knownParser) bool { return k.equal(g) })
	known := parsers.known
	parsers.RUnlock()
	if i >= 0 {
		return known[i]
	}
	made := newParser(g)
	parsers.Lock()
	defer parsers.Unlock()
	if len(parsers.known) < maxParsers {
		parsers.known = append(parsers.known, made)
	}
	return made
}

func newParser(g grammar) *knownParser {
	config := parse.Config{Macros: g.macros, OptionalSyntax: g.optional, NoEscapedIdents: g.plain, Surrogates: g.surrogates}
	k := &knownParser{grammar: g, parser: parse.New(config)}
	if g.open {
		config.OpenAccumulator = true
		k.accumulators = parse.New(config)
	}
	return k
}

// of returns the parser for src. Trees with an accumulator that expressions can name are made only
// if necessary, because everything else is faster with the name that no expression has.
func (k *knownParser) of(src string) *parse.Parser {
	if k.namesAccumulator(src) {
		return k.accumulators
	}
	return k.parser
}

func (k *knownParser) namesAccumulator(src string) bool {
	return k.open && strings.Contains(src, parser.AccumulatorName)
}

func (k *knownParser) celgo(env *cel.Env, src string) (*cel.Ast, *cel.Issues) {
	if !k.plain && !k.open {
		return env.Parse(src)
	}
	p, err := parser.NewParser(
		parser.Macros(k.macros...), parser.EnableOptionalSyntax(k.optional),
		parser.EnableIdentEscapeSyntax(!k.plain), parser.EnableHiddenAccumulatorName(!k.namesAccumulator(src)),
	)
	if err != nil {
		errs := common.NewErrors(common.NewTextSource(""))
		errs.ReportError(common.NoLocation, "%v", err)
		return nil, cel.NewIssues(errs)
	}
	source := common.NewTextSource(src)
	tree, errs := p.Parse(source)
	if len(errs.GetErrors()) > 0 {
		for _, e := range errs.GetErrors() {
			if k.surrogates && e.Message == "invalid unicode code point" {
				e.Message = "unable to unescape string"
			}
		}
		return nil, cel.NewIssues(errs)
	}
	parsed := cel.ParsedExprToAstWithSource(nil, source)
	*parsed.NativeRep() = *tree
	return parsed, nil
}
