package search

import (
	"encoding/base64"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/expr"
)

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// equal sets what a part reads so that its value may be v, in the form that an
// object holds it. It says whether something was set.
func (b *bender) equal(e ast.Expr, sc *scope, v any) bool {
	if b.spent() {
		return false
	}
	if h, ok := b.locate(e, sc); ok {
		return b.assign(h, v)
	}
	switch e.Kind() {
	case ast.IdentKind:
		if at := sc.find(e.AsIdent()); at != nil {
			return b.equalBinding(at.of, v)
		}
	case ast.ComprehensionKind:
		return b.equalMacro(e, sc, v)
	case ast.ListKind:
		want, ok := v.([]any)
		items := e.AsList().Elements()
		if !ok || len(want) != len(items) {
			return false
		}
		for i, item := range items {
			if !b.equal(item, sc, want[i]) {
				return false
			}
		}
		return true
	case ast.CallKind:
		return b.equalCall(e, sc, v)
	case ast.SelectKind:
		if want, ok := v.(bool); ok && e.AsSelect().IsTestOnly() {
			return b.truth(e, sc, want)
		}
	}
	return false
}

func (b *bender) equalBinding(of binding, v any) bool {
	switch {
	case of.at != nil:
		return b.assign(*of.at, v)
	case of.from != nil:
		return b.equal(of.from, of.in, v)
	case of.list != nil:
		return b.equalElement(of.list, of.in, of.index, v)
	}
	return of.val != nil && equalJSON(expr.Native(of.val), v)
}

func (b *bender) equalMacro(e ast.Expr, sc *scope, v any) bool {
	if want, ok := v.(bool); ok {
		return b.truth(e, sc, want)
	}
	want, ok := v.([]any)
	if !ok || !b.size(e, sc, len(want), len(want)) {
		return false
	}
	elements := b.elements(e, sc)
	for i := range min(len(want), len(elements)) {
		if !b.equalBinding(elements[i], want[i]) {
			return false
		}
	}
	return len(elements) == len(want)
}

func (b *bender) equalCall(e ast.Expr, sc *scope, v any) bool {
	call := e.AsCall()
	args := call.Args()
	operand := operandOf(call)
	switch name := call.FunctionName(); name {
	case operators.Conditional:
		return b.conditional(args, sc, func(branch ast.Expr) bool { return b.equal(branch, sc, v) })
	case operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo:
		return b.arithmetic(call, sc, v)
	case operators.Negate:
		if n, ok := v.(int64); ok {
			return b.equal(operand, sc, -n)
		}
	case "size":
		if n, ok := v.(int64); ok && n >= 0 && n < huge {
			return b.size(operand, sc, int(n), int(n))
		}
	case "string", "duration", "timestamp", "quantity", "url", "ip", "cidr", "semver", "lowerAscii", "upperAscii", "trim", "bytes":
		return b.equal(operand, sc, parsedAs(b, operand, v))
	case "int", "double", "uint":
		if b.equal(operand, sc, v) {
			return true
		}
		if s, ok := textOf(v); ok {
			return b.equal(operand, sc, s)
		}
	case "orValue":
		if known, ok := b.native(args[0], sc); ok && equalJSON(known, v) {
			if h, ok := b.locate(operand, sc); ok && b.absent(h.place) {
				return true
			}
		}
		return b.equal(operand, sc, v)
	case "value", "optional.of", "optional.ofNonZeroValue", "dyn":
		return b.equal(operand, sc, v)
	case "split":
		if parts, ok := v.([]any); ok {
			return b.equal(operand, sc, b.joined(call, sc, parts))
		}
	case "join":
		if s, ok := v.(string); ok {
			return b.equal(operand, sc, []any{s})
		}
	case "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath":
		if s, ok := v.(string); ok {
			return b.equalURL(call, sc, s)
		}
	case operators.Index:
		return b.equalIndex(args, sc, v)
	case "substring", "charAt":
		return b.equalSubstring(call, sc, v)
	}
	if want, ok := v.(bool); ok {
		return b.truth(e, sc, want)
	}
	done := func() bool {
		now, ok := b.native(e, sc)
		return ok && equalJSON(now, v)
	}
	if operand != nil && b.equal(operand, sc, v) && done() { // as with find, replace, format
		return true
	}
	return b.sampleOutcome(e, sc, done)
}

// operandOf is what a method is called on, or a function's first argument; nil
// where there is none.
func operandOf(call ast.CallExpr) ast.Expr {
	if call.IsMemberFunction() {
		return call.Target()
	}
	if len(call.Args()) > 0 {
		return call.Args()[0]
	}
	return nil
}

// parsedAs is v in the form that the operand of a conversion has it.
func parsedAs(b *bender, operand ast.Expr, v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	switch t := b.r.program.parts.Type(operand); {
	case t == nil:
	case t.Kind() == celtypes.BytesKind:
		return base64.StdEncoding.EncodeToString([]byte(s))
	case t.Kind() == celtypes.IntKind:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	case t.Kind() == celtypes.BoolKind:
		return s == "true"
	}
	return v
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case string:
		return v, true
	}
	return "", false
}

// arithmetic solves for one operand.
func (b *bender) arithmetic(call ast.CallExpr, sc *scope, v any) bool {
	switch call.FunctionName() {
	case operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo:
	default:
		return false
	}
	first := b.m.rng.IntN(2)
	for _, i := range []int{first, 1 - first} {
		other, ok := b.native(call.Args()[1-i], sc)
		if !ok {
			continue
		}
		if target, ok := solve(call.FunctionName(), i, v, other); ok && b.equal(call.Args()[i], sc, target) {
			return true
		}
	}
	return false
}

// solve is what operand i must be for the result v, beside the other.
func solve(operator string, i int, v, other any) (any, bool) {
	switch v := v.(type) {
	case int64:
		o, ok := other.(int64)
		if !ok {
			return nil, false
		}
		return solveInt(operator, i, v, o)
	case float64:
		o, ok := other.(float64)
		if !ok {
			return nil, false
		}
		switch operator {
		case operators.Add:
			return v - o, true
		case operators.Subtract:
			if i == 0 {
				return v + o, true
			}
			return o - v, true
		}
	case string:
		o, _ := other.(string)
		if operator != operators.Add {
			return nil, false
		}
		if i == 0 {
			return strings.CutSuffix(v, o)
		}
		return strings.CutPrefix(v, o)
	case []any:
		o, _ := other.([]any)
		if operator == operators.Add && len(o) <= len(v) {
			if i == 0 {
				return v[:len(v)-len(o)], true
			}
			return v[len(o):], true
		}
	}
	return nil, false
}

func solveInt(operator string, i int, v, o int64) (any, bool) {
	switch operator {
	case operators.Add:
		return v - o, true
	case operators.Subtract:
		if i == 0 {
			return v + o, true
		}
		return o - v, true
	case operators.Multiply:
		if o != 0 && v%o == 0 {
			return v / o, true
		}
	case operators.Divide:
		if i == 0 && o != 0 && math.Abs(float64(v))*math.Abs(float64(o)) < math.MaxInt64 {
			return v * o, true
		}
	case operators.Modulo:
		if i == 0 && v < o {
			return o + v, true
		}
	}
	return nil, false
}

func (b *bender) joined(call ast.CallExpr, sc *scope, parts []any) string {
	sep, _ := b.native(call.Args()[0], sc)
	by, _ := sep.(string)
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i], _ = p.(string)
	}
	return strings.Join(texts, by)
}

// equalURL puts a part into a URL.
func (b *bender) equalURL(call ast.CallExpr, sc *scope, part string) bool {
	now, ok := b.native(call.Target(), sc)
	if target := call.Target(); !ok && target.Kind() == ast.CallKind && operandOf(target.AsCall()) != nil {
		now, _ = b.native(operandOf(target.AsCall()), sc)
	}
	s, _ := now.(string)
	if b.wantURL(call, sc, part) {
		return true
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" {
		u = &url.URL{Scheme: "https", Host: "a.example"}
	}
	switch call.FunctionName() {
	case "getScheme":
		u.Scheme = part
	case "getHost":
		u.Host = part
	case "getHostname":
		if u.Host = part; u.Port() != "" {
			u.Host = part + ":" + u.Port()
		}
	case "getPort":
		if u.Host = u.Hostname(); part != "" {
			u.Host += ":" + part
		}
	case "getEscapedPath":
		if u.Path = part; part != "" && part[0] != '/' {
			u.Path = "/" + part
		}
		u.RawPath = ""
	}
	return b.equal(call.Target(), sc, u.String())
}

// wantURL makes a part of a URL what is wanted, beside what else is wanted of it.
func (b *bender) wantURL(call ast.CallExpr, sc *scope, part string) bool {
	target := call.Target()
	if target.Kind() != ast.CallKind || target.AsCall().FunctionName() != "url" {
		return false
	}
	quoted := regexp.QuoteMeta(part)
	p := ""
	switch call.FunctionName() {
	case "getScheme":
		p = `^` + quoted + `://[a-z]`
	case "getHost", "getHostname":
		p = `^[a-z]+://` + quoted + `([:/?].*)?$`
	case "getPort":
		p = `^[a-z]+://[^/?:]+:` + quoted + `([/?].*)?$`
	case "getEscapedPath":
		p = `^[a-z]+://[^/?]+` + quoted + `(\?.*)?$`
	}
	arg := target.AsCall().Args()[0]
	if !b.wantText(arg, sc, textWant{match: []string{p}, max: -1}) {
		return false
	}
	now, _ := b.native(arg, sc)
	s, _ := now.(string)
	u, err := url.ParseRequestURI(s)
	return err == nil && u.Host != ""
}

// equalIndex sets one part of a text that is split, or one element.
func (b *bender) equalIndex(args []ast.Expr, sc *scope, v any) bool {
	at, ok := b.native(args[1], sc)
	i, isInt := at.(int64)
	return ok && isInt && i >= 0 && i <= maxItems && b.equalElement(args[0], sc, int(i), v)
}

func (b *bender) equalElement(of ast.Expr, sc *scope, i int, v any) bool {
	now, _ := b.native(of, sc)
	list, _ := now.([]any)
	list = append([]any(nil), list...)
	for len(list) <= i {
		list = append(list, "a")
	}
	list[i] = v
	return b.equal(of, sc, list)
}

func (b *bender) equalSubstring(call ast.CallExpr, sc *scope, v any) bool {
	s, isText := v.(string)
	now, _ := b.native(call.Target(), sc)
	whole, _ := now.(string)
	from, _ := b.native(call.Args()[0], sc)
	start, ok := from.(int64)
	if !isText || !ok || start < 0 || start > maxText {
		return false
	}
	for int64(len(whole)) < start {
		whole += "a"
	}
	end := len(whole)
	if len(call.Args()) > 1 {
		if to, _ := b.native(call.Args()[1], sc); to != nil {
			if n, ok := to.(int64); ok && n >= start {
				end = min(int(n), end)
			}
		}
	}
	return b.equal(call.Target(), sc, whole[:start]+s+whole[max(end, int(start)):])
}

// size brings the number of elements, or of letters, between two bounds; hi < 0
// is none.
func (b *bender) size(e ast.Expr, sc *scope, lo, hi int) bool {
	if b.spent() {
		return false
	}
	if h, ok := b.locate(e, sc); ok {
		return b.sizeAt(h, lo, hi)
	}
	if b.isText(e) {
		return b.wantText(e, sc, textWant{min: lo, max: hi})
	}
	if e.Kind() == ast.CallKind {
		switch call := e.AsCall(); call.FunctionName() {
		case operators.Conditional:
			return b.conditional(call.Args(), sc, func(branch ast.Expr) bool { return b.size(branch, sc, lo, hi) })
		case "split":
			return lo <= maxItems && b.sizeSplit(e, sc, lo, hi)
		}
	}
	return b.resize(func() []binding { return b.elements(e, sc) }, func() bool { return b.grow(e, sc) }, lo, hi)
}

// sizeSplit gives a text that is split more or fewer parts.
func (b *bender) sizeSplit(e ast.Expr, sc *scope, lo, hi int) bool {
	now, _ := b.native(e, sc)
	parts, _ := now.([]any)
	for len(parts) < max(lo, 1) {
		parts = append(parts, "a")
	}
	if hi >= 0 && len(parts) > max(hi, 1) {
		parts = parts[:max(hi, 1)]
	}
	return b.equal(e.AsCall().Target(), sc, b.joined(e.AsCall(), sc, parts))
}

// resize adds and drops elements.
func (b *bender) resize(elements func() []binding, grow func() bool, lo, hi int) bool {
	if lo > maxItems {
		return false
	}
	for n := len(elements()); n < lo; {
		if b.spent() || !grow() {
			return false
		}
		more := len(elements())
		if more <= n {
			return false
		}
		n = more
	}
	for {
		all := elements()
		if hi < 0 || len(all) <= hi {
			return true
		}
		if b.spent() || !b.dropElement(all[len(all)-1]) {
			return false
		}
	}
}

func (b *bender) sizeAt(h handle, lo, hi int) bool {
	if h.key || h.node.kind() == "string" || h.node.kind() == "intOrString" {
		return b.textAt(h, textWant{min: lo, max: hi})
	}
	if lo > maxItems {
		return false
	}
	if _, ok := b.w.get(h.place); !ok && !b.ensure(h.place) {
		return false
	}
	return b.resize(func() []binding { return b.elementsAt(h.place) }, func() bool { return b.add(h.place) }, lo, hi)
}

func (b *bender) isText(e ast.Expr) bool {
	t := b.r.program.parts.Type(e)
	return t != nil && t.Kind() == celtypes.StringKind
}
