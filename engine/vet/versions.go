package vet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

// Need is a part of a rule that requires a Kubernetes version.
type Need struct {
	// KubeVersion is the first version that accepts Part, such as "1.31"; "" if this build
	// supports no such version. If Silent is set, older versions accept the rule but drop Part.
	KubeVersion string `json:"kubeVersion"`
	// Path and Index identify the rule. Part names the part that requires the version.
	Part   string `json:"what"`
	Path   string `json:"path"`
	Index  int    `json:"index"`
	Silent bool   `json:"withoutEffectBefore,omitempty"`
}

func (n Need) String() string {
	effect := ""
	if n.Silent {
		effect = "without effect before "
	}
	return fmt.Sprintf("%s in %s: %s%s", n.Part, phrase.Path(n.Path), effect, n.KubeVersion)
}

func (a *admission) needs() (lowest types.Version, needs []Need, ok bool) {
	lowest, ok = types.Version{Minor: types.Oldest}, true
	for _, u := range a.units {
		for _, r := range u.rules {
			n, minor := r.needs()
			needs = append(needs, n...)
			if minor > types.Last {
				ok = false
			}
			lowest.Minor = max(lowest.Minor, min(minor, types.Last))
		}
	}
	return lowest, needs, ok
}

func (r *rule) needs() (needs []Need, minor int) {
	minor = types.Oldest
	for _, x := range r.compiledParts() {
		m := x.lowestMinor()
		if m > types.Oldest {
			needs = append(needs, r.need(m, x.newestPart(m)))
		}
		minor = max(minor, m)
	}
	if since := types.FieldSince(optionalOldSelf); r.spec.OptionalOldSelf != nil && since > minor {
		n := r.need(since, optionalOldSelf)
		n.Silent = true
		needs = append(needs, n)
	}
	return needs, minor
}

func (r *rule) need(since int, part string) Need {
	n := Need{Path: r.at.objectPath(), Index: r.index, Part: part}
	if since <= types.Last {
		n.KubeVersion = types.Version{Minor: since}.String()
	}
	return n
}

// lowestMinor returns types.Last+1 if no version accepts the expression.
func (x *compiled) lowestMinor() int {
	if x.since == 0 {
		x.since = types.Oldest
		for x.since <= types.Last && !celenv.Plain(x.ast) && x.checkedBy(x.since) == nil {
			x.since++
		}
	}
	return x.since
}

func (x *compiled) checkedBy(minor int) *cel.Ast {
	optional := x.key.Optional && minor >= types.FieldSince(optionalOldSelf)
	_, checked, err := celenv.NewRules(types.Version{Minor: minor}).Compile(x.key.Decl, optional, x.key.Source)
	if err != nil || !x.key.Part.Takes(checked) {
		return nil
	}
	return checked
}

// maxNewer limits the total length of the expressions that are compiled for later versions, in bytes.
const maxNewer = 40_000

func (a *admission) newer() (needs []Need) {
	length := 0
	for _, u := range a.units {
		for _, r := range u.rules {
			for _, x := range []*compiled{r.expr, r.message} {
				if x == nil || !x.rejected {
					continue
				}
				if length += len(x.key.Source); length > maxNewer {
					return needs
				}
				for minor := a.version.Minor + 1; minor <= types.Last; minor++ {
					if checked := x.checkedBy(minor); checked != nil {
						accepted := &compiled{ast: checked, key: x.key}
						needs = append(needs, r.need(minor, accepted.newestPart(minor)))
						break
					}
				}
			}
		}
	}
	return needs
}

// newestPart names a part of an expression that the version before minor does not support, or returns "the
// expression".
func (x *compiled) newestPart(minor int) string {
	before := celenv.Overloads(types.Version{Minor: max(minor-1, types.Oldest)})
	name := ""
	a := x.ast.NativeRep()
	ast.PostOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if name != "" {
			return
		}
		switch e.Kind() {
		case ast.CallKind:
			if ref, ok := a.ReferenceMap()[e.ID()]; ok && !slices.ContainsFunc(ref.OverloadIDs, func(id string) bool { return before[id] }) {
				function := e.AsCall().FunctionName()
				name = cmp.Or(callNames[function], function)
			}
		case ast.ComprehensionKind:
			if e.AsComprehension().IterVar2() != "" {
				name = "a macro with two variables"
			}
		case ast.SelectKind:
			if field := e.AsSelect().FieldName(); celenv.Reserved(field) && minor == celenv.KeywordFields {
				name = fmt.Sprintf("the field name %q", field)
			}
		}
	}))
	switch {
	case name != "":
		return name
	case minor == celenv.EscapedNames && strings.Contains(x.key.Source, "`"):
		return "a name in backticks"
	case x.key.Optional && minor == types.FieldSince(optionalOldSelf):
		return optionalOldSelf
	}
	return "the expression"
}

var callNames = map[string]string{
	operators.OptSelect: ".?", operators.OptIndex: "[?]", "@sortByAssociatedKeys": "sortBy", operators.Less: ofMixed,
	operators.LessEquals: ofMixed, operators.Greater: ofMixed, operators.GreaterEquals: ofMixed,
}

const ofMixed = "comparison of int and double"

// optionalOldSelf is the only field of rules that some versions do not support.
const optionalOldSelf = "optionalOldSelf"

// dropUnknown removes the fields that a server of version v drops silently, and returns the dropped fields of rules.
// It modifies spec.
func dropUnknown(spec *apiextensions.CustomResourceDefinitionSpec, v types.Version) (dropped []Need) {
	if v.Minor >= types.Newest {
		return nil
	}
	if !selectableFields.Include(v.Minor) {
		dropSelectable(spec)
	}
	for _, u := range units(spec) {
		if u.tree != nil {
			u.tree.drop(v, &dropped)
		}
	}
	if len(dropped) > 0 && v.Minor != dropsLate {
		join(spec)
	}
	return dropped
}

// dropsLate is the minor that decodes optionalOldSelf and drops it after conversion. The other versions
// that drop it never decode it.
const dropsLate = 29

// Conversion moves the schema to the top if all versions have equal schemas.
func join(spec *apiextensions.CustomResourceDefinitionSpec) {
	if !identicalSchemas(spec.Versions) {
		return
	}
	spec.Validation = spec.Versions[0].Schema
	for i := range spec.Versions {
		spec.Versions[i].Schema = nil
	}
}

func (b *branch) drop(v types.Version, dropped *[]Need) {
	since := types.FieldSince(optionalOldSelf)
	for i := range b.props.XValidations {
		r := &b.props.XValidations[i]
		if r.OptionalOldSelf == nil || since <= v.Minor {
			continue
		}
		*dropped = append(*dropped, Need{KubeVersion: types.Version{Minor: since}.String(), Silent: true, Path: b.objectPath(), Index: i, Part: optionalOldSelf})
		r.OptionalOldSelf = nil
	}
	for _, c := range b.children {
		c.drop(v, dropped)
	}
}
