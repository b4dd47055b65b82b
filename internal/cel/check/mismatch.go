package check

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// A Mismatch is a call that no overload accepts.
type Mismatch struct {
	ID      int64 // of the call
	Message string
}

// Mismatches returns the mismatches of a parsed expression, which it modifies, in cel-go's words. It does not find
// other errors. provider is that of Check.
func (c *Checker) Mismatches(parsed *ast.AST, provider celtypes.Provider) []Mismatch {
	s := c.states.Get().(*state)
	defer s.end()
	s.Checker, s.provider, s.sameNumbers, s.dotted, s.explained = c, provider, true, c.dotted, true
	s.check(parsed.Expr())
	return s.mismatches
}

// mismatch returns the type of a call of e that no overload accepts, or nil if the expression is then rejected.
func (s *state) mismatch(e ast.Expr, args []*celtypes.Type) *celtypes.Type {
	if !s.explained {
		return nil
	}
	names := make([]string, len(args))
	for i, t := range args {
		names[i] = checker.FormatCELType(s.substituted(termOf(t), true))
	}
	signature := "(" + strings.Join(names, ", ") + ")"
	if e.AsCall().IsMemberFunction() {
		signature = names[0] + ".(" + strings.Join(names[1:], ", ") + ")"
	}
	message := fmt.Sprintf("found no matching overload for '%s' applied to '%s'", e.AsCall().FunctionName(), signature)
	s.mismatches = append(s.mismatches, Mismatch{e.ID(), message})
	return celtypes.ErrorType
}
