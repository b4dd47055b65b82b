package search

import (
	"net/url"

	"github.com/google/cel-go/common/ast"
)

// equalURL makes a part of a URL equal to part and reports whether it set the URL.
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
