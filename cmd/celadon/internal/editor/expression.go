// Package editor finds the part of a rule around a cursor in the source of a CRD, and shortens the API
// server's messages, for the language server and the playground:
//
//	var trees editor.Trees // of one text, kept from change to change
//	p, within := trees.At(text, offset)
//	e, ok := p.Expression(within)
//	context, err := editor.NewContext(engine, crd, &e.At, e.OptionalOldSelf, functions) // nil if unknown
package editor

import (
	"errors"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// An Expression is a part of a rule in a text.
type Expression struct {
	At RuleAt
	// Source is the decoded value of the part. Cursor is the cursor's offset in it, in code points.
	Source string
	Cursor int
	// CursorFollows is set if the cursor is after the end of the expression. Then Cursor is its end.
	CursorFollows bool
	// Key is set if the cursor is in the key of the part.
	Key bool
	// Point returns the offset in the text of a code point of Source.
	Point func(int) int
	Style position.Style
	// OptionalOldSelf is the rule's optionalOldSelf.
	OptionalOldSelf bool
	// CRD is the metadata.name of the CRD, or "".
	CRD   string
	Tree  *position.Document
	Start int // offset of Tree in the text
}

// Expression returns the part of a rule around an offset of the document. ok is false if the offset is not in
// a part of a rule, or if the part is not a scalar with a known end.
func (p Piece) Expression(within int) (e *Expression, ok bool) {
	spot := p.Tree.At(within)
	at, ok := RuleOf(spot.Path)
	if !ok || at.Key == "" {
		return nil, false
	}
	if e = p.scalar(spot, within); e == nil {
		return nil, false
	}
	e.At, e.CRD = at, nameIn(p.Tree, spot.Path)
	_, rule := p.Tree.Find(spot.Path[:len(spot.Path)-1])
	e.OptionalOldSelf = OptionalOldSelf(rule)
	return e, true
}

func (p Piece) scalar(spot position.Spot, within int) *Expression {
	node := spot.Node
	if spot.Key {
		_, node = p.Tree.Find(spot.Path)
	}
	if node == nil || node.Kind != position.Scalar {
		return nil
	}
	words, ok := p.Tree.Text(node)
	if !ok {
		return nil
	}
	e := &Expression{
		Source: node.Value, Key: spot.Key, CursorFollows: within > node.End && node.Known && node.Value != "", Style: node.Style,
		Point: func(i int) int { return p.Start + words.SourcePoint(i) },
		Tree:  p.Tree, Start: p.Start,
	}
	if !spot.Key {
		e.Cursor = words.Point(within)
	}
	return e
}

// OptionalOldSelf reports whether a rule, which may be nil, sets optionalOldSelf to true.
func OptionalOldSelf(rule *position.Node) bool {
	if rule == nil {
		return false
	}
	_, optional := rule.Get("optionalOldSelf")
	return optional != nil && optional.Value == "true"
}

func nameIn(tree *position.Document, path position.Path) string {
	var root position.Path
	if name, _ := path[0].Name(); name == "items" && len(path) > 1 {
		root = slices.Clone(path[:2])
	}
	if _, name := tree.Find(append(root, position.Key("metadata"), position.Key("name"))); name != nil {
		return name.Value
	}
	return ""
}

// A RuleAt identifies a part of a rule in the source of a CRD.
type RuleAt struct {
	Version int // index in the CRD
	Steps   []engine.Step
	Index   int
	Key     string // key of the part, for example "rule"
	// Item is the index of the CRD if the text is a List. Path leads to the part in the text's tree.
	Item int
	Path position.Path
}

// Part returns the role of the part. It is AnyExpression for each part except rule and
// messageExpression.
func (r *RuleAt) Part() assist.Part { return roles[r.Key] }

var roles = map[string]assist.Part{"rule": assist.Rule, "messageExpression": assist.MessageExpression}

// RuleOf returns the part of a rule at path in the source of a CRD. It returns false if path is not in a rule.
func RuleOf(path position.Path) (RuleAt, bool) {
	at, index, part, ok := crdedit.RuleAt(path)
	r := RuleAt{Version: at.Version, Steps: at.Steps, Index: index, Key: part, Path: path}
	if len(path) > 1 {
		if name, _ := path[0].Name(); name == "items" {
			r.Item = path[1].Index()
		}
	}
	return r, ok
}

// NewContext returns the context of a part of a rule. The engine e must be compiled from crd, which must
// include its descriptions. NewContext returns nil if crd has no schema at that path. An error is always
// internal.
func NewContext(e *engine.Engine, crd *apiextensionsv1.CustomResourceDefinition, at *RuleAt, optionalOldSelf bool, functions *assist.Functions) (*assist.Context, error) {
	if at.Version < 0 || at.Version >= len(crd.Spec.Versions) || crd.Spec.Versions[at.Version].Schema == nil {
		return nil, nil
	}
	v := &crd.Spec.Versions[at.Version]
	c, err := assist.NewContext(e, v.Schema.OpenAPIV3Schema, v.Name, engine.FormatPath(at.Steps))
	var bug *engine.InternalError
	switch {
	case errors.As(err, &bug):
		return nil, err
	case err != nil: // the schema has changed since it was last valid
		return nil, nil
	}
	c.Part, c.OptionalOldSelf, c.Functions = at.Part(), optionalOldSelf, functions
	return c, nil
}

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

// PolicyExpression returns the expression of a policy or webhook around an offset of the document. ok is
// false if the offset is not in the value of one, or if the value is not a scalar with a known end.
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
