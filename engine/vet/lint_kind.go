package vet

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/internal/notation"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/types"
)

type kinds uint

const allKinds = ^kinds(0)

func (s kinds) has(k notation.Kind) bool { return s&(1<<k) != 0 }

func (s *kinds) add(k notation.Kind) { *s |= 1 << k }

// "5m" counts as a duration and "5" as a number, because kindOf has already returned a quantity if the name of a
// field suggests it.
func (s kinds) only() notation.Kind {
	if s.has(notation.Duration) || s.has(notation.Integer) {
		s &^= 1 << notation.Quantity
	}
	only := notation.None
	for _, k := range notation.Kinds() {
		if s.has(k) {
			if only != notation.None {
				return notation.None
			}
			only = k
		}
	}
	return only
}

// Empty strings are ignored.
func kindsOf(texts []string) kinds {
	set := allKinds
	for _, text := range texts {
		if text == "" {
			continue
		}
		var of kinds
		for _, k := range notation.Kinds() {
			if k.Is(text) || k == notation.Quantity && notation.Integer.Is(text) {
				of.add(k)
			}
		}
		set &= of
	}
	return set
}

// The values of these formats stay strings in rules.
var formatKinds = map[string]notation.Kind{
	"quantity": notation.Quantity, "semver": notation.Version, "version": notation.Version,
	"ip": notation.Address, "ipv4": notation.Address, "ipv6": notation.Address, "cidr": notation.Range,
}

func (in *inspection) kindOf(c *textComparison) notation.Kind {
	set, name, intOrString := allKinds, notation.None, false
	for _, o := range []*textOperand{&c.a, &c.b} {
		if o.path == nil {
			continue
		}
		set &= in.schemaKinds(o.path)
		intOrString = intOrString || o.path.decl.Kind == types.IntOrString
		if k := notation.OfName(o.path.fieldName()); name == notation.None || k == notation.None {
			name = max(name, k)
		} else if k != name {
			return notation.None
		}
	}
	texts := c.texts()
	if slices.Contains(texts, "") { // a test for an absent value
		return notation.None
	}
	set &= kindsOf(texts)
	switch {
	case set == allKinds && name == notation.None && intOrString:
		return notation.Integer
	case name != notation.None && set.has(name):
		return name
	case set == allKinds:
		return notation.None
	}
	return set.only()
}

func (c *textComparison) texts() (list []string) {
	if c.list != nil {
		return c.list
	}
	for _, o := range []*textOperand{&c.a, &c.b} {
		if o.path == nil {
			list = append(list, o.literal)
		}
	}
	return list
}

func (in *inspection) schemaKinds(p *exprPath) kinds {
	set := allKinds
	if list, ok := enum(p); ok {
		set &= kindsOf(list)
	}
	if v := p.node.ValueValidation; v != nil {
		if k, ok := formatKinds[v.Format]; ok {
			set &= 1 << k
		}
		if v.Pattern != "" {
			set &= in.pattern(v.Pattern).kinds
		}
	}
	if text, ok := p.node.Default.Object.(string); ok {
		set &= kindsOf([]string{text})
	}
	return set
}

func enum(p *exprPath) (list []string, ok bool) {
	if p.node.ValueValidation == nil {
		return nil, false
	}
	for _, v := range p.node.ValueValidation.Enum {
		if text, ok := v.Object.(string); ok {
			list = append(list, text)
		}
	}
	return list, len(list) > 0
}

const (
	maxPatterns = 256
	maxStates   = 2000
)

type allowedTexts struct {
	pattern *regexp.Regexp // nil if the pattern is invalid or large
	kinds   kinds
}

// telling holds strings that are written only as values of a kind. A pattern that matches one of them, but no words,
// suggests the kind.
var telling = map[notation.Kind][]string{
	notation.Quantity:  {"10Gi", "500Mi", "5Gi", "500m"},
	notation.Duration:  {"1h", "30s", "10s"},
	notation.Version:   {"1.10.0", "v1.10.0", "v1.10"},
	notation.Timestamp: {"2024-01-01T09:00:00Z"},
	notation.Address:   {"10.0.0.1"},
	notation.Range:     {"10.0.0.0/8"},
}

// The kinds are all kinds if the pattern also matches words, is invalid, or is large, or if the CRD has too many
// patterns.
func (in *inspection) pattern(src string) *allowedTexts {
	if t := in.patterns[src]; t != nil {
		return t
	}
	t := &allowedTexts{kinds: allKinds}
	if len(in.patterns) >= maxPatterns {
		return t
	}
	in.patterns[src] = t
	if states, err := regexcost.States(src); err != nil || states > maxStates {
		return t
	}
	var err error
	if t.pattern, err = regexp.Compile(src); err != nil {
		t.pattern = nil
		return t
	}
	if slices.ContainsFunc([]string{"abc", "x-y", "Abc"}, t.pattern.MatchString) {
		return t
	}
	t.kinds = 0
	for k, texts := range telling {
		if slices.ContainsFunc(texts, t.pattern.MatchString) {
			t.kinds.add(k)
		}
	}
	if t.kinds == 0 && t.pattern.MatchString("10") && t.pattern.MatchString("9") {
		t.kinds.add(notation.Integer)
	}
	return t
}

const maxEnum = 40

func (in *inspection) candidates(o *textOperand, c *textComparison) (list []string) {
	if o.path == nil {
		return []string{o.literal}
	}
	all, ok := enum(o.path)
	if !ok {
		for _, text := range c.texts() {
			all = append(all, c.kind.Spellings(text)...)
		}
		if samples := c.kind.Samples(); c.ordered() {
			all = append(samples, all...)
		} else {
			all = append(all, samples...)
		}
	}
	required := in.required()[o.path.path]
	for _, text := range all[:min(len(all), maxEnum)] {
		if in.allows(o.path, text) && !slices.ContainsFunc(required, func(src string) bool {
			p := in.pattern(src).pattern
			return p != nil && !p.MatchString(text)
		}) {
			list = append(list, text)
		}
	}
	return list
}

func (in *inspection) allows(p *exprPath, text string) bool {
	v, n := p.node.ValueValidation, int64(utf8.RuneCountInString(text))
	switch {
	case v == nil:
		return true
	case v.MinLength != nil && n < *v.MinLength, v.MaxLength != nil && n > *v.MaxLength:
		return false
	case v.Pattern != "":
		re := in.pattern(v.Pattern).pattern
		return re == nil || re.MatchString(text)
	}
	return true
}

// required returns the patterns that the rule itself passes to matches(), by the path of the field.
func (in *inspection) required() map[string][]string {
	if in.matches == nil {
		in.matches = map[string][]string{}
		in.walk.visit(in.expr.ast.NativeRep().Expr(), func(e ast.Expr, _ *exprPath) {
			if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "matches" || !e.AsCall().IsMemberFunction() {
				return
			}
			src, ok := e.AsCall().Args()[0].AsLiteral().(celtypes.String)
			if p := in.walk.pathOf(e.AsCall().Target()); p != nil && ok {
				in.matches[p.path] = append(in.matches[p.path], string(src))
			}
		})
	}
	return in.matches
}
