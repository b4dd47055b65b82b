package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/assist"
)

// How it works: rules have no variables, so names defined by :let, and _ for the last expression,
// are not CEL variables. Before a line is processed, each name is replaced by its expression, so a
// rule that is added is complete. self in such an expression refers to the path where the name was
// defined; using the name at another path is an error.

// lastValue is the name of the last expression that had a value.
const lastValue = "_"

// A let is a named expression.
type let struct {
	name, text string
	// scope is the version and path where the name was defined, to which self refers.
	scope [2]string
}

// visible reports whether the name can be used at a scope. Without a CRD, expressions have no self, so
// they have the same meaning everywhere.
func (l *let) visible(scope [2]string) bool { return l.scope == scope || l.scope == [2]string{} }

// maxExpanded limits the size of an expression, in bytes, after names are replaced: _ + _ doubles
// it each time.
const maxExpanded = 64 << 10

func (s *Session) namespace() [2]string {
	if s.state.location == nil {
		return [2]string{}
	}
	return [2]string{s.state.version, s.state.location.path()}
}

// letBe defines or redefines a name.
func (s *Session) letBe(name, text string) {
	l := let{name, text, s.namespace()}
	if i := s.letNamed(name); i >= 0 {
		s.lets[i] = l
		return
	}
	s.lets = append(s.lets, l)
}

func (s *Session) letNamed(name string) int {
	return slices.IndexFunc(s.lets, func(l let) bool { return l.name == name })
}

// expand replaces names in src by their expressions.
func (s *Session) expand(src string) (string, error) {
	if len(s.lets) == 0 {
		return src, nil
	}
	text := []rune(src)
	tokens := lex.Tokens(text)
	var b strings.Builder
	last := 0
	for i, t := range tokens {
		n := s.letNamed(t.Text)
		if n < 0 || t.Kind != lex.Ident || followsDot(tokens, i) || i+1 < len(tokens) && tokens[i+1].Text == "(" || ofMacro(tokens, i) {
			continue
		}
		if l := s.lets[n]; !l.visible(s.namespace()) {
			return "", fmt.Errorf("%s was defined at %s of version %s, where self is a different value", l.name, phrase.Path(l.scope[1]), l.scope[0])
		}
		b.WriteString(string(text[last:t.Start]) + s.lets[n].operand())
		if last = t.End; b.Len() > maxExpanded {
			return "", fmt.Errorf("the expression has over %d KiB after its names are expanded", maxExpanded>>10)
		}
	}
	return b.String() + string(text[last:]), nil
}

// operand returns the expression, in parentheses if it is not an operand by itself.
func (l *let) operand() string {
	tokens := lex.Tokens([]rune(l.text))
	if n := len(tokens); n > 0 && lex.Operand(tokens, n-1) == 0 {
		return l.text
	}
	return "(" + l.text + ")"
}

func followsDot(tokens []lex.Token, i int) bool {
	return i > 0 && (tokens[i-1].Text == "." || tokens[i-1].Text == ".?")
}

// ofMacro reports whether token i is the variable of an enclosing macro.
func ofMacro(tokens []lex.Token, i int) bool {
	open := 0 // brackets that close between here and the token
	for j := i - 1; j > 1; j-- {
		if open -= lex.Depth(tokens[j]); open >= 0 {
			continue
		}
		open = 0 // the token is within this bracket
		if !assist.IsLoop(tokens[j-1].Text) || tokens[j].Text != "(" {
			continue
		}
		for k := j + 1; k < j+4 && k+1 < len(tokens) && tokens[k].Kind == lex.Ident && tokens[k+1].Text == ","; k += 2 {
			if tokens[k].Text == tokens[i].Text {
				return true
			}
		}
	}
	return false
}

func letCommand(ctx context.Context, s *Session, arg string) (string, error) {
	if arg == "" {
		var rows [][]string
		for _, l := range s.lets {
			rows = append(rows, []string{l.name, "= " + lex.Flat(l.text)})
		}
		return table(rows, s.Width), nil
	}
	name, text, ok := strings.Cut(arg, "=")
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	if !ok {
		if gone, removed := strings.CutSuffix(name, " -"); removed {
			return "", s.forget(strings.TrimSpace(gone))
		}
		return "", errors.New("use :let NAME = EXPR, or :let NAME - to remove it")
	}
	if err := nameable(name); err != nil {
		return "", err
	}
	if text == "" {
		return "", fmt.Errorf("no expression given: use :let %s = EXPR", name)
	}
	text, err := s.expand(text)
	if err != nil {
		return "", err
	}
	a, err := s.Eval(ctx, text)
	if err != nil {
		return "", err
	}
	s.letBe(name, text)
	return a.text(s.Width), nil
}

func (s *Session) forget(name string) error {
	i := s.letNamed(name)
	if i < 0 {
		return fmt.Errorf("%s: no such name (:let lists them)", termwidth.Cut(name, maxValue))
	}
	s.lets = slices.Delete(s.lets, i, i+1)
	return nil
}

// nameable returns an error if name is reserved or not an identifier.
func nameable(name string) error {
	tokens := lex.Tokens([]rune(name))
	taken := append([]string{types.Self, types.OldSelf, "true", "false", "null", "in", lastValue}, bareWords...)
	switch {
	case len(tokens) != 1 || tokens[0].Kind != lex.Ident || tokens[0].Text != name:
		return fmt.Errorf("name %q: want letters and digits, such as n1", name)
	case slices.Contains(taken, name):
		return fmt.Errorf("name %q: reserved, use another name", name)
	}
	return nil
}
