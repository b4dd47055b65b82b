package check

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// Mismatches returns cel-go's errors about the calls in a parsed expression that no overload accepts. It stops
// at the first other error, and modifies parsed. provider is the same as for Check.
func (c *Checker) Mismatches(parsed *ast.AST, provider celtypes.Provider) []*common.Error {
	s := c.states.Get().(*state)
	defer s.end()
	s.Checker, s.provider, s.sameNumbers, s.dotted, s.explained = c, provider, true, c.dotted, parsed.SourceInfo()
	s.check(parsed.Expr())
	return s.mismatches
}

// mismatch returns nil if mismatches are not collected.
func (s *state) mismatch(e ast.Expr, args []*celtypes.Type) *celtypes.Type {
	if s.explained == nil {
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
	s.mismatches = append(s.mismatches, &common.Error{
		Location: s.explained.GetStartLocation(e.ID()), ExprID: e.ID(),
		Message: fmt.Sprintf("found no matching overload for '%s' applied to '%s'", e.AsCall().FunctionName(), signature),
	})
	return celtypes.ErrorType
}
