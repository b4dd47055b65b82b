package types

import (
	"maps"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// A correction is a difference between real API servers of a version and the environment that the
// linked release provides for it. Each correction has a probe: a CRD submitted to real servers of
// every version.
type correction struct {
	// overload is the overload of a function; field is a field of a rule. Exactly one is set.
	overload, field string
	// since is the first minor version that accepts the function in new rules, or that keeps the
	// field instead of silently dropping it.
	since int
	probe string
}

var corrections = []correction{
	{overload: "list_first", since: 33, probe: "ext-lists-first"},
	{overload: "list_last", since: 33, probe: "ext-lists-first"}, // introduced together with list_first
	{field: "messageExpression", since: 27, probe: "messageExpression-string-int"},
	{field: "reason", since: 28, probe: "reason"},
	{field: "fieldPath", since: 28, probe: "fieldPath"},
	{field: "optionalOldSelf", since: 30, probe: "optionalOldSelf"},
}

// FieldSince returns the first minor version whose servers keep the given field of a rule.
func FieldSince(field string) int {
	for _, c := range corrections {
		if c.field == field && field != "" {
			return c.since
		}
	}
	return Oldest
}

// NotYet finds a call in a checked expression that servers of version v reject in new rules
// although the environment of that version accepts it. It returns the checker's error text for an
// undeclared function, or "" if all calls are accepted.
func (v Version) NotYet(checked *cel.Ast) string {
	if !slices.ContainsFunc(corrections, func(c correction) bool { return c.overload != "" && c.since > v.Minor }) {
		return ""
	}
	a := checked.NativeRep()
	refs := a.ReferenceMap()
	for _, id := range slices.Sorted(maps.Keys(refs)) {
		ref := refs[id]
		for _, c := range corrections {
			if c.overload == "" || c.since <= v.Minor || !slices.Contains(ref.OverloadIDs, c.overload) {
				continue
			}
			errs := common.NewErrors(checked.Source())
			errs.ReportErrorAtID(id, a.SourceInfo().GetStartLocation(id), "undeclared reference to '%s' (in container '')", functionOf(a.Expr(), id))
			return errs.ToDisplayString()
		}
	}
	return ""
}

func functionOf(root ast.Expr, id int64) (name string) {
	ast.PreOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if e.ID() == id && e.Kind() == ast.CallKind {
			name = e.AsCall().FunctionName()
		}
	}))
	return name
}

// Plain reports whether every version since Oldest certainly checks the expression in the same way.
// If it returns false, the versions may still agree.
func Plain(checked *cel.Ast) bool {
	a, plain := checked.NativeRep(), true
	known := oldestOverloads()
	for _, ref := range a.ReferenceMap() {
		for _, id := range ref.OverloadIDs {
			plain = plain && known[id]
		}
	}
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ComprehensionKind:
			plain = plain && e.AsComprehension().IterVar2() == ""
		case ast.SelectKind:
			plain = plain && !reserved[e.AsSelect().FieldName()]
		case ast.ListKind:
			plain = plain && len(e.AsList().OptionalIndices()) == 0
		case ast.MapKind, ast.StructKind:
			plain = false
		}
	}))
	return plain
}

// KeywordFields is the first minor version that accepts a reserved word as a field name in new
// rules.
const KeywordFields = keywordFields + 1

// Reserved reports whether word cannot be used as a field name before KeywordFields.
func Reserved(word string) bool { return reserved[word] }

// reserved holds the words that can be selected as fields since KeywordFields.
var reserved = map[string]bool{
	"as": true, "break": true, "const": true, "continue": true, "else": true, "for": true, "function": true, "if": true,
	"import": true, "let": true, "loop": true, "package": true, "namespace": true, "return": true, "var": true, "void": true, "while": true,
	"in": true, "true": true, "false": true, "null": true,
}

var oldestOverloads = sync.OnceValue(func() map[string]bool { return Version{Oldest}.Overloads() })

// Overloads returns the IDs of the overloads that servers of version v accept in new rules.
func (v Version) Overloads() map[string]bool {
	known := map[string]bool{}
	for _, f := range environment.MustBaseEnvSet(version.MajorMinor(1, uint(v.Minor-1))).NewExpressionsEnv().Functions() {
		for _, o := range f.OverloadDecls() {
			known[o.ID()] = true
		}
	}
	for _, c := range corrections {
		if c.overload != "" && c.since > v.Minor {
			delete(known, c.overload)
		}
	}
	if v.Minor <= crossTypes {
		dropCrossTypes(known)
	}
	return known
}

// crossTypes is the last minor version whose new rules cannot compare integers with doubles.
const crossTypes = 28

// dropCrossTypes removes overloads that are declared but disabled.
func dropCrossTypes(known map[string]bool) {
	numbers := []string{"int64", "uint64", "double"}
	for _, op := range []string{"less_", "less_equals_", "greater_", "greater_equals_"} {
		for _, a := range numbers {
			for _, b := range numbers {
				if a != b {
					delete(known, op+a+"_"+b)
				}
			}
		}
	}
}
