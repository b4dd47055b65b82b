package types

import (
	"errors"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/cel/upstream"
)

// Parse is env.Parse; all parsing goes through it. What our parser accepts has the
// tree that cel-go's makes, in a fifteenth of the time; it can go when the cel-go
// that k8s.io links is as fast. The error is a *ComplexError, or an *IssuesError
// with cel-go's words.
func Parse(env *cel.Env, src string) (*cel.Ast, error) {
	parser, err := parserOf(env)
	if err != nil {
		return nil, err
	}
	return parseWith(parser, env, src)
}

func parseWith(parser *parse.Parser, env *cel.Env, src string) (*cel.Ast, error) {
	source := parse.NewSource(src)
	tree, err := parser.Parse(source)
	if upstream.CEL && err == nil {
		err = errUpstream
	}
	switch {
	case errors.Is(err, parse.ErrFlood):
		return nil, &ComplexError{flood: err}
	case err != nil:
		parsed, issues := env.Parse(src)
		if issues != nil {
			return nil, &IssuesError{src, issues}
		}
		return parsed, nil
	}
	parsed := cel.ParsedExprToAstWithSource(nil, source)
	*parsed.NativeRep() = *tree
	return parsed, nil
}

// errUpstream makes cel-go parse what our parser accepts.
var errUpstream = errors.New("cel-go parses all expressions")

// optionalTypes is the library that has syntax of its own.
const optionalTypes = "cel.lib.optional"

// parsers are those of all environments so far, as long as the process runs.
// Environments of one version have the same macros, and so there are few.
var parsers struct {
	sync.RWMutex
	known []knownParser
}

// knownParser is a parser for all environments with these macros.
type knownParser struct {
	macros   []cel.Macro
	optional bool
	parser   *parse.Parser
}

// maxParsers bounds what is kept, whatever environments Check is given.
const maxParsers = 64

func parserOf(env *cel.Env) (*parse.Parser, error) {
	macros, optional := env.Macros(), env.HasLibrary(optionalTypes)
	same := func(k knownParser) bool { return k.optional == optional && slices.Equal(k.macros, macros) }
	parsers.RLock()
	i := slices.IndexFunc(parsers.known, same)
	known := parsers.known
	parsers.RUnlock()
	if i >= 0 {
		return known[i].parser, nil
	}
	made, err := parse.New(parse.Config{Macros: macros, OptionalSyntax: optional})
	if err != nil {
		return nil, err
	}
	parsers.Lock()
	defer parsers.Unlock()
	if len(parsers.known) < maxParsers {
		parsers.known = append(parsers.known, knownParser{macros, optional, made})
	}
	return made, nil
}
