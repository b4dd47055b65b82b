package prove

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/regexp/automaton"
)

// chance generates random objects for a schema. Most values are at the aimed path, where the tested
// rules apply. Constants from the rules are preferred.
type chance struct {
	*rand.Rand
	aim   []engine.Step
	words []string
	ints  []int64
	texts map[string][]string // by pattern and length bounds
	left  int
}

var (
	quoted  = regexp.MustCompile(`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`)
	present = regexp.MustCompile(`\bhas\([^()]*\.(\w+)\)`)
	integer = regexp.MustCompile(`\b\d{1,9}\b`)
)

func newChance(seed uint64, rules []string) *chance {
	c := &chance{Rand: rand.New(rand.NewPCG(seed, 9)), texts: map[string][]string{}, words: []string{"", "a", "b", "x-1"}, ints: []int64{0, 1}}
	for _, text := range rules {
		for _, q := range quoted.FindAllString(text, -1) {
			word := strings.ReplaceAll(q[1:len(q)-1], `\\`, `\`)
			c.words = append(c.words, word)
			if l, err := automaton.Compile(word); err == nil && strings.ContainsAny(word, "^$[") {
				c.words = append(c.words, l.Find(automaton.Search{MinLength: 1, Count: 2, Steps: 20_000}).Texts...)
			}
		}
		for _, q := range present.FindAllStringSubmatch(text, -1) {
			c.words = append(c.words, q[1])
		}
		for _, n := range integer.FindAllString(text, -1) {
			i, _ := strconv.ParseInt(n, 10, 64)
			c.ints = append(c.ints, i-1, i, i+1)
		}
	}
	return c
}

func (c *chance) object(s *schema.Structural, header map[string]any) map[string]any {
	c.left = 300
	obj := c.fields(s, c.aim, true)
	for k, v := range header {
		obj[k] = runtime.DeepCopyJSONValue(v)
	}
	return obj
}

func (c *chance) fields(s *schema.Structural, aim []engine.Step, onWay bool) map[string]any {
	obj := map[string]any{}
	for _, name := range sortedKeys(s.Properties) {
		prop := s.Properties[name]
		towards := onWay && len(aim) > 0 && aim[0].Name == name
		near := onWay && len(aim) == 0
		required := s.ValueValidation != nil && slices.Contains(s.ValueValidation.Required, name)
		wanted := required && c.IntN(20) > 0 || towards && c.IntN(12) > 0 || near && c.IntN(2) == 0 || c.left > 0 && c.IntN(14) == 0
		if !wanted {
			continue
		}
		rest := aim
		if towards {
			rest = aim[1:]
		}
		obj[name] = c.value(&prop, rest, towards || near && c.IntN(2) == 0)
	}
	return obj
}

func (c *chance) value(s *schema.Structural, aim []engine.Step, onWay bool) any {
	c.left--
	v := s.ValueValidation
	if v == nil {
		v = &schema.ValueValidation{}
	}
	switch {
	case s.Nullable && c.IntN(6) == 0:
		return nil
	case len(v.Enum) > 0 && c.IntN(25) > 0:
		return runtime.DeepCopyJSONValue(v.Enum[c.IntN(len(v.Enum))].Object)
	case s.XIntOrString:
		if c.IntN(2) == 0 {
			return c.whole(v)
		}
		return c.text(v)
	}
	switch s.Type {
	case "object":
		if e := s.AdditionalProperties; e != nil && e.Structural != nil {
			m := map[string]any{}
			for range c.size(v.MinProperties, v.MaxProperties) {
				word := c.words[c.IntN(len(c.words))]
				if m[word] = c.value(e.Structural, next(aim), onWay); c.IntN(8) == 0 {
					m[word] = nil // is dropped if not nullable
				}
			}
			return m
		}
		return c.fields(s, aim, onWay)
	case "array":
		if s.Items == nil {
			return []any{}
		}
		l := []any{}
		for range c.size(v.MinItems, v.MaxItems) {
			l = append(l, c.value(s.Items, next(aim), onWay))
		}
		return l
	case "boolean":
		return c.IntN(2) == 0
	case "integer":
		return c.whole(v)
	case "number":
		if n := c.IntN(4); n > 0 {
			return float64(c.whole(v)) + float64(n)/4
		}
		return c.whole(v) // as decoded from JSON without a decimal point
	case "string":
		return c.text(v)
	}
	return map[string]any{}
}

func next(aim []engine.Step) []engine.Step {
	if len(aim) > 0 && aim[0].Any {
		return aim[1:]
	}
	return aim
}

func (c *chance) size(least, most *int64) int {
	n := int64(c.IntN(3))
	if least != nil {
		n += *least
	}
	if c.left < 0 {
		n = min(n, 1)
	}
	if most != nil && n > *most && c.IntN(20) > 0 {
		n = *most
	}
	return int(min(n, 10))
}

func (c *chance) whole(v *schema.ValueValidation) int64 {
	n := c.ints[c.IntN(len(c.ints))]
	switch {
	case v.Minimum != nil && (n < int64(*v.Minimum) || c.IntN(8) == 0):
		return int64(*v.Minimum) + int64(c.IntN(3))
	case v.Maximum != nil && (n > int64(*v.Maximum) || c.IntN(8) == 0):
		return int64(*v.Maximum) - int64(c.IntN(3))
	}
	return n
}

func (c *chance) text(v *schema.ValueValidation) any {
	least, most := 0, 0
	if v.MinLength != nil {
		least = int(min(*v.MinLength, 300))
	}
	if v.MaxLength != nil {
		most = int(min(*v.MaxLength, 300))
	}
	word := c.words[c.IntN(len(c.words))]
	if v.Pattern == "" && len(word) >= least && (most == 0 || len(word) <= most) {
		return word
	}
	key := strconv.Itoa(least) + " " + strconv.Itoa(most) + " " + v.Pattern
	known, ok := c.texts[key]
	if !ok {
		l := automaton.All()
		if compiled, err := automaton.Compile(v.Pattern); err == nil {
			l = compiled
		}
		for _, w := range c.words {
			if l.Contains(w) && len(w) >= least && (most == 0 || len(w) <= most) {
				known = append(known, w)
			}
		}
		known = append(known, l.Find(automaton.Search{MinLength: max(least, 1), MaxLength: most, Count: 4, Steps: 20_000}).Texts...)
		c.texts[key] = known
	}
	if len(known) == 0 {
		return word
	}
	return known[c.IntN(len(known))]
}

func (c *chance) bend(s *schema.Structural, obj map[string]any) map[string]any {
	kind, apiVersion := obj["kind"], obj["apiVersion"]
	obj = runtime.DeepCopyJSON(obj)
	c.left = 100
	for range 1 + c.IntN(2) {
		c.bendBelow(s, obj, c.aim)
	}
	obj["kind"], obj["apiVersion"] = kind, apiVersion
	if meta, ok := obj["metadata"].(map[string]any); ok && c.IntN(20) == 0 {
		meta["name"] = c.words[c.IntN(len(c.words))] // rules on the root may read it
	}
	return obj
}

func (c *chance) bendBelow(s *schema.Structural, obj map[string]any, aim []engine.Step) {
	names := sortedKeys(s.Properties)
	if len(names) == 0 {
		return
	}
	name := names[c.IntN(len(names))]
	if len(aim) > 0 && c.IntN(8) > 0 {
		name = aim[0].Name
	}
	prop, ok := s.Properties[name]
	if !ok {
		return
	}
	rest := aim
	if len(aim) > 0 && aim[0].Name == name {
		rest = aim[1:]
	}
	switch v := obj[name].(type) {
	case map[string]any:
		if prop.AdditionalProperties == nil && c.IntN(6) > 0 {
			c.bendBelow(&prop, v, rest)
			return
		}
		if e := prop.AdditionalProperties; e != nil && e.Structural != nil && c.IntN(2) == 0 {
			v[c.words[c.IntN(len(c.words))]] = c.value(e.Structural, next(rest), true)
			return
		}
	case []any:
		if prop.Items != nil && c.IntN(6) == 0 {
			obj[name] = append(v, c.value(prop.Items, next(rest), true))
			return
		}
		if len(v) > 0 && c.IntN(4) > 0 {
			i := c.IntN(len(v))
			if item, ok := v[i].(map[string]any); ok && c.IntN(6) > 0 {
				c.bendBelow(prop.Items, item, next(rest))
			} else {
				v[i] = c.value(prop.Items, next(rest), true)
			}
			return
		}
	}
	if c.IntN(3) == 0 {
		delete(obj, name)
		return
	}
	obj[name] = c.value(&prop, rest, true)
}
