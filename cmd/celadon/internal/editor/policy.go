package editor

import (
	"slices"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// policyExpressions matches the paths of expressions in admission policies and webhook configurations.
var policyExpressions = lazy.New(`^(?:items\[\d+\]\.)?(?:spec\.(?:variables|validations|matchConditions|auditAnnotations)\[\d+\]\.(?:expression|messageExpression|valueExpression)` +
	`|spec\.mutations\[\d+\]\.(?:applyConfiguration|jsonPatch)\.expression|webhooks\[\d+\]\.matchConditions\[\d+\]\.expression)$`)

// A PolicyExpression is an expression of an admission policy, or of the matchConditions of a webhook, in a text.
type PolicyExpression struct {
	*Expression
	// Variables holds the names of the policy's variables.
	Variables []string
	// Matches reports whether a rule of the policy or webhook matches a resource in a version.
	Matches func(group, version, plural string) bool
}

// PolicyExpression returns the expression of a policy around an offset of the document. ok is false if the offset is not
// in one.
func (p Piece) PolicyExpression(within int) (e *PolicyExpression, ok bool) {
	if p.Tree.Root == nil {
		return nil, false
	}
	spot := p.Tree.At(within)
	if spot.Key || !policyExpressions.MatchString(spot.Path.String()) {
		return nil, false
	}
	x := p.scalar(spot, within)
	if x == nil {
		return nil, false
	}
	at := 0
	if name, _ := spot.Path[0].Name(); name == "items" {
		at = 2
	}
	e = &PolicyExpression{Expression: x}
	var rules *position.Node
	switch name, _ := spot.Path[at].Name(); name {
	case "spec":
		_, variables := p.Tree.Find(append(spot.Path[:at:at], position.Key("spec"), position.Key("variables")))
		for _, v := range items(variables) {
			if _, name := v.Get("name"); name != nil && name.Value != "" {
				e.Variables = append(e.Variables, name.Value)
			}
		}
		_, rules = p.Tree.Find(append(spot.Path[:at:at], position.Key("spec"), position.Key("matchConstraints"), position.Key("resourceRules")))
	case "webhooks":
		_, rules = p.Tree.Find(append(spot.Path[:at+2:at+2], position.Key("rules")))
	}
	e.Matches = func(group, version, plural string) bool {
		return slices.ContainsFunc(items(rules), func(rule *position.Node) bool {
			return has(rule, "apiGroups", group) && has(rule, "apiVersions", version) && has(rule, "resources", plural)
		})
	}
	return e, true
}

// items returns the items of a sequence, or nothing for other nodes.
func items(n *position.Node) []*position.Node {
	if n == nil {
		return nil
	}
	if n = n.Resolve(); n.Kind != position.Sequence {
		return nil
	}
	return n.Items
}

// has reports whether a list field of a rule contains item or a wildcard. A plural name also matches if its
// subresource status, or all its subresources, are listed.
func has(rule *position.Node, field, item string) bool {
	_, list := rule.Get(field)
	all := []string{"*", "*/*", item, item + "/*", item + "/status"}
	return slices.ContainsFunc(items(list), func(n *position.Node) bool { return slices.Contains(all, n.Value) })
}
