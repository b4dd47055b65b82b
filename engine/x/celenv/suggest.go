package celenv

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
)

// How it works: newer versions suggest declared names that are similar to an unknown one. If a.b is similar to a
// qualified name, the error is about a.b instead of a. The linked checker has found the unknown names (cel-go
// 0.33.2, checker/errors.go and common/env/catalog.go).

const (
	undeclaredPrefix = "undeclared reference to '"
	emptyContainer   = "' (in container '')"
)

// issues are the errors of the linked checker.
func withSuggestions(env *cel.Env, src string, issues *cel.Issues) *cel.Issues {
	s := &suggester{env: env, unknown: map[int64]bool{}, replaced: map[int64]bool{}}
	for _, e := range issues.Errors() {
		s.unknown[e.ExprID] = s.unknown[e.ExprID] || strings.HasPrefix(e.Message, undeclaredPrefix)
	}
	parsed, err := Parse(env, src)
	if err != nil {
		return issues
	}
	s.parsed = parsed.NativeRep()
	s.visit(s.parsed.Expr())
	list := s.added
	for _, e := range issues.Errors() {
		if !s.replaced[e.ExprID] {
			e.Message = s.message(e.Message)
			list = append(list, e)
		}
	}
	return cel.NewIssues(common.NewErrors(parsed.Source()).Append(list))
}

type suggester struct {
	env    *cel.Env
	parsed *ast.AST
	known  []string
	// unknown holds the IDs of unknown names. replaced holds the IDs of expressions whose errors are
	// dropped, because added has a better error.
	unknown, replaced map[int64]bool
	added             []*common.Error
}

func (s *suggester) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.SelectKind:
		if !e.AsSelect().IsTestOnly() && s.qualified(e, e, "") {
			return
		}
	case ast.CallKind:
		if call := e.AsCall(); call.IsMemberFunction() && s.qualified(e, call.Target(), "."+call.FunctionName()) {
			s.replaced[e.ID()] = true
			for _, arg := range call.Args() {
				s.visit(arg)
			}
			return
		}
	}
	for _, child := range ast.NavigateExpr(s.parsed, e).Children() {
		s.visit(child)
	}
}

// qualified reports whether the name in x, with a suffix, begins with an unknown name and is similar to a
// declared one. It then adds an error for e.
func (s *suggester) qualified(e, x ast.Expr, suffix string) bool {
	name, ok := containers.ToQualifiedName(x)
	if !ok {
		return false
	}
	for x.Kind() == ast.SelectKind {
		x = x.AsSelect().Operand()
	}
	if !s.unknown[x.ID()] {
		return false
	}
	name += suffix
	found := s.find(name)
	if len(found) == 0 {
		return false
	}
	s.replaced[x.ID()] = true
	s.added = append(s.added, &common.Error{
		Location: s.parsed.SourceInfo().GetStartLocation(e.ID()), Message: undeclaredPrefix + name + "'" + suggestion(name, found), ExprID: e.ID(),
	})
	return true
}

func (s *suggester) message(old string) string {
	if name, ok := strings.CutPrefix(old, undeclaredPrefix); ok {
		if name, ok = strings.CutSuffix(name, emptyContainer); ok {
			return undeclaredPrefix + name + "'" + suggestion(name, s.find(name))
		}
	}
	if name, ok := strings.CutSuffix(old, "' is not a type"); ok {
		name = strings.TrimPrefix(name, "'")
		return old + suggestion(name, s.find(name))
	}
	return old
}

func suggestion(name string, found []string) string {
	switch {
	case len(found) == 2:
		return fmt.Sprintf(" (did you mean '%s' or '%s'?)", found[0], found[1])
	case len(found) == 1 && found[0] != name:
		return fmt.Sprintf(" (did you mean '%s'?)", found[0])
	}
	return ""
}

func (s *suggester) names() []string {
	if s.known == nil {
		for name := range s.env.Functions() {
			s.known = append(s.known, name)
		}
		for _, v := range s.env.Variables() {
			s.known = append(s.known, v.Name())
		}
		for _, m := range s.env.Macros() {
			s.known = append(s.known, m.Function())
		}
		slices.SortFunc(s.known, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
		s.known = slices.Compact(s.known)
	}
	return s.known
}

// find returns up to two declared names that are most similar to name, or that begin with it, or only the
// name itself if it is declared.
func (s *suggester) find(name string) (found []string) {
	if slices.Contains(s.names(), name) {
		return []string{name}
	}
	best, dotted := 2, strings.Contains(name, ".")
	switch {
	case len(name) <= 3:
		best = 1
	case len(name) > 8:
		best = len(name) / 3
	}
	for _, known := range s.names() {
		if strings.Contains(known, ".") != dotted {
			continue
		}
		switch d := distance(name, known); {
		case d < best:
			best, found = d, []string{known}
		case d == best:
			found = append(found, known)
		}
	}
	if len(found) == 0 && len(name) >= 2 {
		for _, known := range s.names() {
			if strings.Contains(known, ".") == dotted && strings.HasPrefix(known, name) {
				found = append(found, known)
			}
		}
	}
	return found[:min(len(found), 2)]
}

// maxCells limits the work of distance. Longer names do not count as similar.
const maxCells = 64 * 64

// distance returns the number of characters to insert, delete, replace, or swap with the next one to turn a
// into b, a lower bound of it for some long names, or a large number if the names are not similar.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	long, short := max(len(from), len(to)), min(len(from), len(to))
	switch {
	case short == 0:
		return long
	case long >= 16 && long*2 >= short*3:
		return long - short
	case len(from)*len(to) > maxCells:
		return math.MaxInt32
	}
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		least := i
		for j := 1; j <= len(to); j++ {
			d := rows[i-1][j-1]
			if from[i-1] != to[j-1] {
				d++
			}
			d = min(d, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j], least = d, min(least, d)
		}
		if least > long/3 {
			return math.MaxInt32
		}
	}
	return rows[len(from)][len(to)]
}
