package search

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/expr"
)

// equal changes the values that a part reads so that the part may evaluate to v, which has JSON form. A result of
// true does not guarantee that it does.
func (b *adjuster) equal(e ast.Expr, sc *scope, v any) bool {
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
		want, ok := v.(bool)
		return ok && b.truth(e, sc, want)
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

func (b *adjuster) equalBinding(of binding, v any) bool {
	switch {
	case of.at != nil:
		return b.assign(*of.at, v)
	case of.from != nil:
		return b.equal(of.from, of.in, v)
	case of.list != nil:
		s, ok := v.(string)
		return ok && b.throughPart(of.list, of.in, of.index, oneText(s))
	}
	return of.val != nil && equalJSON(expr.Native(of.val), v)
}

func (b *adjuster) equalCall(e ast.Expr, sc *scope, v any) bool {
	call := e.AsCall()
	args := call.Args()
	operand := operandOf(call)
	done := func() bool {
		now, ok := b.native(e, sc)
		return ok && equalJSON(now, v)
	}
	switch call.FunctionName() {
	case operators.Conditional:
		return b.conditional(args, sc, func(branch ast.Expr) bool { return b.equal(branch, sc, v) })
	case operators.Add:
		s, _ := v.(string)
		for i, cut := range []func(s, known string) (string, bool){strings.CutPrefix, strings.CutSuffix} {
			known, ok := b.eval(args[i], sc).(celtypes.String)
			if rest, fits := cut(s, string(known)); ok && fits && b.equal(args[1-i], sc, rest) {
				return true
			}
		}
	case operators.Negate:
		if n, ok := v.(int64); ok {
			return b.equal(operand, sc, -n)
		}
	case "size":
		if n, ok := v.(int64); ok && n >= 0 && n < huge {
			return b.size(operand, sc, int(n), int(n))
		}
	case "string", "duration", "timestamp", "quantity", "url", "ip", "cidr", "semver", "bytes":
		s, _ := v.(string)
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && b.r.program.parts.Type(operand) == celtypes.IntType {
			v = n
		}
		return b.equal(operand, sc, v)
	case operators.Index:
		if s, ok := v.(string); ok && b.throughUntil(e, sc, oneText(s), done) {
			return true
		}
	case "substring":
		from, _ := b.eval(args[0], sc).(celtypes.Int)
		if s, ok := v.(string); ok && from >= 0 && from < maxItems && b.equal(operand, sc, strings.Repeat("a", int(from))+s) && done() {
			return true
		}
	case "int", "double", "uint":
		if s, ok := textOf(v); ok && b.isText(operand) {
			v = s
		}
		return b.equal(operand, sc, v)
	case "orValue":
		if known, ok := b.native(args[0], sc); ok && equalJSON(known, v) {
			if h, ok := b.locate(operand, sc); ok && b.absent(h.objectPath) {
				return true
			}
		}
		return b.equal(operand, sc, v)
	case "value", "optional.of", "optional.ofNonZeroValue", "dyn":
		return b.equal(operand, sc, v)
	case "join":
		if s, ok := v.(string); ok {
			return b.equal(operand, sc, []any{s})
		}
	case "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath":
		if s, ok := v.(string); ok {
			return b.equalURL(call, sc, s)
		}
	}
	if want, ok := v.(bool); ok {
		return b.truth(e, sc, want)
	}
	if operand != nil && b.equal(operand, sc, v) && done() { // for functions such as find, replace, format
		return true
	}
	return b.sampleOutcome(e, sc, done)
}

func operandOf(call ast.CallExpr) ast.Expr {
	if call.IsMemberFunction() {
		return call.Target()
	}
	if len(call.Args()) > 0 {
		return call.Args()[0]
	}
	return nil
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case string:
		return v, true
	}
	return "", false
}

func (b *adjuster) equalURL(call ast.CallExpr, sc *scope, part string) bool {
	now, ok := b.native(call.Target(), sc)
	if target := call.Target(); !ok && target.Kind() == ast.CallKind && operandOf(target.AsCall()) != nil {
		now, _ = b.native(operandOf(target.AsCall()), sc)
	}
	s, _ := now.(string)
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
		if _, err := strconv.ParseUint(part, 10, 16); err != nil && part != "" {
			part = "80" // any text was wanted, but a port is a number
		}
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
