package types

import (
	"errors"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/internal/cel/parse"
	"github.com/celadon-cel/celadon/internal/cel/upstream"
)

// Parse parses src in env, like env.Parse; all parsing uses it. Celadon's parser returns the same
// tree as cel-go's in a fifteenth of the time. It can be removed when the cel-go version used by
// k8s.io is as fast. The error is a *ComplexError, or an *IssuesError with cel-go's messages.
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

// errUpstream makes cel-go parse what Celadon's parser accepted.
var errUpstream = errors.New("cel-go parses all expressions")

// optionalTypes is the library that adds syntax for optionals.
const optionalTypes = "cel.lib.optional"

// parsers caches the parsers of all environments until the process exits. There are few, because
// the environments of a version share their macros.
var parsers struct {
	sync.RWMutex
	known []knownParser
}

// A knownParser is a parser for environments with these macros.
type knownParser struct {
	macros   []cel.Macro
	optional bool
	parser   *parse.Parser
}

// maxParsers limits the cache, because callers can pass any environment to Check.
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
