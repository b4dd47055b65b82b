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

// correction is where real servers answer otherwise than the linked release's
// environment of their version. Each has a probe: a CRD that real servers of
// every version were asked about.
type correction struct {
	// overload is a function's; field is a rule's.
	overload, field string
	// since is the first minor that accepts the function in new rules, or
	// that does not drop the field in silence.
	since int
	probe string
}

var corrections = []correction{
	{overload: "list_first", since: 33, probe: "ext-lists-first"},
	{overload: "list_last", since: 33, probe: "ext-lists-first"}, // came with it
	{field: "messageExpression", since: 27, probe: "messageExpression-string-int"},
	{field: "reason", since: 28, probe: "reason"},
	{field: "fieldPath", since: 28, probe: "fieldPath"},
	{field: "optionalOldSelf", since: 30, probe: "optionalOldSelf"},
}

// FieldSince is the first minor whose servers do not drop a field of a rule.
func FieldSince(field string) int {
	for _, c := range corrections {
		if c.field == field && field != "" {
			return c.since
		}
	}
	return Oldest
}

// NotYet finds a call in a checked expression that servers of version v do not
// know in new rules, though the environment of that version does. The text is
// the checker's for a function that it does not know; "" when there is none.
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

// Plain is true of a checked expression that every version since Oldest
// checks in the same way. False means no more than that one has to ask.
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

// KeywordFields is the first minor that accepts a reserved word as a field's
// name in new rules.
const KeywordFields = keywordFields + 1

// Reserved is true of words that cannot name a field before KeywordFields.
func Reserved(word string) bool { return reserved[word] }

// reserved words may stand behind a dot since KeywordFields.
var reserved = map[string]bool{
	"as": true, "break": true, "const": true, "continue": true, "else": true, "for": true, "function": true, "if": true,
	"import": true, "let": true, "loop": true, "package": true, "namespace": true, "return": true, "var": true, "void": true, "while": true,
	"in": true, "true": true, "false": true, "null": true,
}

var oldestOverloads = sync.OnceValue(func() map[string]bool { return Version{Oldest}.Overloads() })

// Overloads are the functions, by overload, that servers of version v accept in
// new rules.
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

// crossTypes is the last minor whose new rules cannot compare integers with
// doubles.
const crossTypes = 28

// dropCrossTypes drops overloads that are declared but switched off.
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
