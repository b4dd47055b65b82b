package policyvet

import (
	"fmt"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

// openAccount matches a prefix of the names of service accounts that ends in the name of a namespace.
var openAccount = lazy.New(`^system:serviceaccount:[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// accountPrefixes reports prefixes that match more users than meant, and conditions of webhooks that read namespaceObject.
func accountPrefixes(s *subject, add reporter) {
	for _, x := range s.expressions {
		if x.tree == nil {
			continue
		}
		var prefix, reads ast.Expr
		ast.PreOrderVisit(x.tree, ast.NewExprVisitor(func(e ast.Expr) {
			if s.kind == "" && reads == nil && isRoot(e, "namespaceObject") {
				reads = e
			}
			if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "startsWith" || len(e.AsCall().Args()) != 1 || prefix != nil {
				return
			}
			if literal, ok := text(e.AsCall().Args()[0]); ok && openAccount.MatchString(literal) {
				prefix = e.AsCall().Args()[0]
			}
		}))
		if prefix != nil {
			literal, _ := text(prefix)
			add(openPrefix, x.at(prefix), fmt.Sprintf("%[1]s is also a prefix of service accounts in namespaces such as %[2]s-a: "+
				"write %[1]s: with a colon at the end", literal, literal[len("system:serviceaccount:"):]))
		}
		if reads != nil {
			add(noNamespace, x.at(reads), "namespaceObject is null in the conditions of webhooks: "+
				"use request.namespace for its name, and namespaceSelector for its labels")
		}
	}
}
