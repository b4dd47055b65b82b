package fuzz

import (
	"maps"
	"slices"
)

// words are the strings in both objects and rules, so that comparisons are sometimes true.
var words = []string{
	"", "a", "b", "A", "ab", "foo-bar", "1Gi", "500m", "1.2.3", "10.0.0.1", "10.0.0.0/8", "::1", "https://example.com:80/p?q=1", "2024-02-29T01:02:03Z", "1h30m", "aGVsbG8=", "ünïcødé", "true", "7", "a,b,c", "%d", "^a.*$", "2024-02-29", "v1", "dns1123Label",
}

var integers = []int64{0, 1, 2, 3, 10, -1, 1 << 40, 9223372036854775807, -9223372036854775808}

var floats = []float64{0.5, 1.5, -2.25, 1e300, 1e18}

// With probability 1/wrong, the value has a random type; 0 means never.
func (c choice) value(s *props, wrong int) any {
	if wrong > 0 && c.one(wrong) {
		return c.anything(2)
	}
	if s.Nullable && c.one(5) {
		return nil
	}
	switch {
	case s.XIntOrString:
		if c.one(2) {
			return pick(c, integers)
		}
		return pick(c, words)
	case s.Type == "object":
		return c.fields(s, wrong)
	case s.Type == "array":
		return c.items(s, wrong)
	}
	switch s.Type {
	case "boolean":
		return c.one(2)
	case "integer":
		return pick(c, integers)
	case "number":
		if c.one(2) {
			return pick(c, integers)
		}
		return pick(c, floats)
	case "string":
		return c.string(s)
	}
	return c.anything(2)
}

func (c choice) string(s *props) string {
	switch s.Format {
	case "date":
		return pick(c, []string{"2024-02-29", "1999-12-31"})
	case "date-time":
		return pick(c, []string{"2024-02-29T01:02:03Z", "1999-12-31T23:59:59.5+01:00"})
	case "duration":
		return pick(c, []string{"1h30m", "5s", "-3ms"})
	case "byte":
		return pick(c, []string{"aGVsbG8=", "", "AAEC"})
	}
	if len(s.Enum) > 0 {
		return pick(c, []string{"a", "b", "1Gi"})
	}
	return pick(c, words)
}

func (c choice) fields(s *props, wrong int) map[string]any {
	out := map[string]any{}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		for range c.IntN(4) {
			out[pick(c, words)] = c.value(s.AdditionalProperties.Schema, wrong)
		}
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		prop := s.Properties[name]
		if !c.one(4) {
			out[name] = c.value(&prop, wrong)
		}
	}
	if s.XEmbeddedResource {
		out["apiVersion"], out["kind"] = "v1", "Pod"
		out["metadata"] = c.metadata()
	}
	if s.XPreserveUnknownFields != nil && c.one(2) {
		out["unknown"] = c.anything(2)
	}
	return out
}

// metadata returns metadata with more fields than rules can read.
func (c choice) metadata() map[string]any {
	out := map[string]any{"name": pick(c, []string{"a", "b"})}
	if c.one(2) {
		out["namespace"] = "d"
	}
	if c.one(3) {
		out["labels"] = map[string]any{"x": pick(c, []string{"a", "b"})}
	}
	return out
}

func (c choice) items(s *props, wrong int) []any {
	out := []any{}
	for range c.IntN(5) {
		out = append(out, c.value(s.Items.Schema, wrong))
	}
	return out
}

func (c choice) anything(depth int) any {
	switch n := c.IntN(7); {
	case n == 0:
		return nil
	case n == 1:
		return c.one(2)
	case n == 2:
		return pick(c, integers)
	case n == 3:
		return pick(c, floats)
	case n == 4 && depth > 0:
		return map[string]any{pick(c, words): c.anything(depth - 1), "x": c.anything(depth - 1)}
	case n == 5 && depth > 0:
		return []any{c.anything(depth - 1), c.anything(depth - 1)}
	}
	return pick(c, words)
}

func (c choice) mutate(v any, s *props, chance int) any {
	if s == nil || c.one(chance) {
		if s == nil {
			return v
		}
		return c.value(s, 20)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if c.one(chance * 2) {
				continue
			}
			out[name] = c.mutate(v[name], below(s, name), chance)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			var sub *props
			if s.Items != nil {
				sub = s.Items.Schema
			}
			out = append(out, c.mutate(item, sub, chance))
		}
		if c.one(3) {
			c.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	return v
}

func below(s *props, name string) *props {
	if prop, ok := s.Properties[name]; ok {
		return &prop
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema
	}
	return nil
}
