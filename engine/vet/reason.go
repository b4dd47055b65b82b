package vet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
)

// Reason explains the cost of a rule.
type Reason struct {
	// Expression is the most expensive part of the rule that was found. EstimatedCost is how much less an evaluation
	// would cost without it.
	Expression    string `json:"expression"`
	EstimatedCost uint64 `json:"estimatedCost"`
	// Missing lists missing bounds that cause the cost, most significant first.
	Missing []Missing `json:"missing"`
	// EstimatedTotal is the estimate of the rule for an object or, if Message is set, of an evaluation of its
	// messageExpression. KubeVersion is a version with this estimate, or "" if it is the vetted version.
	EstimatedTotal uint64 `json:"-"`
	Message        bool   `json:"-"`
	KubeVersion    string `json:"kubeVersion,omitempty"`
	// Notes describe known pitfalls that apply to the rule.
	Notes []string `json:"notes"`
	// Fixable is false if no bounds bring the rule under its limit. Expression must then be
	// rewritten.
	Fixable bool `json:"mendable"`
}

// Missing is a bound that the schema lacks.
type Missing struct {
	Path string `json:"path"`
	// Set is the bound to add. Assumed is the size that the estimate uses without it: bytes, items,
	// or entries.
	Set     string `json:"bound"`
	Assumed int64  `json:"assumed"`
}

func (ad *advisor) reason(r *rule) *Reason {
	out := &Reason{Missing: ad.missing(r)}
	p := ad.price(r, nil)
	x, message := r.expr, false
	if r.message.accepted() && p.message > ad.perRule {
		least := ad.least(r)
		if p.total <= ad.perRule || least.message > ad.perRule && least.total <= ad.perRule {
			x, message = r.message, true
		}
	}
	out.Message = message
	var in *reestimator
	if in, out.EstimatedTotal = ad.worst(r, x); in != nil {
		out.KubeVersion = in.version.String()
	}
	out.Expression, out.EstimatedCost = ad.mostExpensive(x, in)
	out.Notes = notes(r, ad.of(r), message)
	return out
}

func (ad *advisor) worst(r *rule, x *compiled) (in *reestimator, most uint64) {
	times := r.times
	if x == r.message {
		times = 1
	}
	most = cost.Mul(x.cost.Max, times)
	for _, o := range ad.others {
		if estimate := cost.Mul(o.expr(x).cost.Max, times); estimate > most {
			in, most = o, estimate
		}
	}
	return in, most
}

// missing returns the missing bounds that each save at least a tenth of the cost, or all missing bounds if none does.
// Bounds that save most are first.
func (ad *advisor) missing(r *rule) []Missing {
	type saving struct {
		b    *bound
		cost uint64
	}
	base := ad.price(r, nil).all()
	var list []saving
	for _, b := range ad.of(r).all {
		if b.missing() {
			list = append(list, saving{b, ad.price(r, values{b: 1}).all()})
		}
	}
	matters := slices.DeleteFunc(slices.Clone(list), func(s saving) bool { return s.cost > base-base/10 })
	if len(matters) == 0 {
		matters = list // only several of them together reduce the cost
	}
	slices.SortStableFunc(matters, func(x, y saving) int { return cmp.Compare(x.cost, y.cost) })
	var out []Missing
	for _, s := range matters {
		out = append(out, Missing{s.b.path, s.b.keyword, s.b.assumed})
	}
	return out
}

func notes(r *rule, d *dependence, message bool) (out []string) {
	unbounded := 0
	for _, f := range r.cardinality.Factors {
		if !f.Bounded {
			unbounded++
		}
	}
	if unbounded > 1 {
		out = append(out, "the rule is inside nested lists or maps without bounds: until each of them has a bound, the estimate assumes as many runs as values fit into a request")
	}
	missing := slices.DeleteFunc(slices.Clone(d.all), func(b *bound) bool { return !b.missing() })
	if slices.ContainsFunc(missing, func(b *bound) bool { return b.props.XIntOrString }) {
		out = append(out, "an int-or-string counts as a 3 MiB string: set maxLength next to x-kubernetes-int-or-string")
	}
	if slices.ContainsFunc(missing, func(b *bound) bool { return slices.ContainsFunc(b.props.AllOf, bounded) }) {
		out = append(out, "the estimate ignores bounds inside allOf: set them next to the type")
	}
	if message && r.message != nil && callsStringOfNumber(r.message.ast) {
		out = append(out, "the estimate assumes no bound for string() of a number: remove the number from messageExpression")
	}
	return out
}

func bounded(s apiextensions.JSONSchemaProps) bool {
	return s.MaxLength != nil || s.MaxItems != nil || s.MaxProperties != nil
}

func callsStringOfNumber(checked *cel.Ast) bool {
	found := false
	for _, ref := range checked.NativeRep().ReferenceMap() {
		for _, id := range ref.OverloadIDs {
			found = found || id == "int64_to_string" || id == "double_to_string" || id == "uint64_to_string"
		}
	}
	return found
}

// mostExpensive follows the most expensive operand as long as it accounts for at least half of the cost, and returns
// the source of the last one and its cost. It considers only operands that are bool or of the expression's own type,
// and only loops over list literals. Each candidate is measured by replacing it with a constant and estimating again,
// as version in does; nil is the vetted version.
func (ad *advisor) mostExpensive(x *compiled, in *reestimator) (text string, saved uint64) {
	f := &partFinder{model: celcost.For(x.base.Version()), ast: x.ast.NativeRep(), decl: x.key.Decl}
	if in != nil {
		f.model, f.decl = in.model, in.declared(f.decl)
	}
	f.whole = f.estimate(f.ast)
	text, saved = strings.TrimSpace(x.key.Source), f.whole
	source := lex.NewSource(x.key.Source, x.ast)
	for at := f.ast.Expr(); ; {
		part, cost := f.mostExpensiveChild(at)
		if part == nil || cost < f.whole/2 {
			return text, saved
		}
		if shown := source.Of(part); shown != "" { // not made by a macro
			text, saved = shown, cost
		}
		at = part
	}
}

type partFinder struct {
	model celcost.Model
	ast   *ast.AST
	decl  *types.Decl
	whole uint64
}

func (f *partFinder) estimate(a *ast.AST) uint64 {
	return f.model.OfTree(a, f.decl).Max
}

func (f *partFinder) mostExpensiveChild(e ast.Expr) (best ast.Expr, saved uint64) {
	for _, part := range f.parts(e) {
		if s := f.savingWithout(part); s > saved {
			best, saved = part, s
		}
	}
	return best, saved
}

func (f *partFinder) savingWithout(part ast.Expr) uint64 {
	a := ast.Copy(f.ast)
	exprs := ast.NewExprFactory()
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.ID() != part.ID() {
			return
		}
		if f.kind(part) == celtypes.StringKind {
			e.SetKindCase(exprs.NewLiteral(e.ID(), celtypes.String("")))
		} else {
			e.SetKindCase(exprs.NewLiteral(e.ID(), celtypes.True))
		}
	}))
	if rest := f.estimate(a); rest < f.whole {
		return f.whole - rest
	}
	return 0
}

func (f *partFinder) kind(e ast.Expr) celtypes.Kind { return f.ast.GetType(e.ID()).Kind() }

// parts returns the operands of e that are bool or of the expression's own type.
func (f *partFinder) parts(e ast.Expr) (list []ast.Expr) {
	add := func(e ast.Expr) {
		if k := f.kind(e); (k == celtypes.BoolKind || k == f.kind(f.ast.Expr())) && e.Kind() != ast.LiteralKind && e.Kind() != ast.IdentKind {
			list = append(list, e)
		}
	}
	switch e.Kind() {
	case ast.CallKind:
		if call := e.AsCall(); !call.IsMemberFunction() {
			for _, arg := range call.Args() {
				add(arg)
			}
		}
	case ast.ComprehensionKind:
		if m, ok := loops.Of(e); ok && m.Over.Kind() == ast.ListKind && m.Body != m.Item { // literals have few elements
			add(m.Body)
		}
	}
	return list
}
