package compare

import "github.com/celadon-cel/celadon/engine"

// at returns the schema at a path, or nil if it does not exist.
func at(s *props, steps []engine.Step) *props {
	for _, step := range steps {
		switch {
		case s == nil:
			return nil
		case (step.Any || step.Item) && s.Items != nil:
			s = s.Items.Schema
		case step.Any:
			s = valuesOf(s)
		default:
			field, ok := s.Properties[step.Name]
			if !ok && valuesOf(s) == nil {
				return nil
			}
			if below := valuesOf(s); !ok {
				field = *below
			}
			s = &field
		}
	}
	return s
}

// sameValues reports whether both schemas read any object as the same values. Fields may be added,
// if they have no default.
func sameValues(before, after *props) bool {
	if typeOf(before) != typeOf(after) || before.Nullable != after.Nullable || before.Format != after.Format ||
		compact(before.Default) != compact(after.Default) || preserves(before) != preserves(after) || listTypeOf(before) != listTypeOf(after) {
		return false
	}
	for name := range before.Properties {
		if _, ok := after.Properties[name]; !ok {
			return false
		}
	}
	for name, a := range after.Properties {
		b, ok := before.Properties[name]
		if !ok && a.Default != nil || ok && !sameValues(&b, &a) {
			return false
		}
	}
	if before.Items != nil && after.Items != nil && before.Items.Schema != nil && after.Items.Schema != nil {
		return sameValues(before.Items.Schema, after.Items.Schema)
	}
	b, a := valuesOf(before), valuesOf(after)
	if b != nil && a != nil {
		return sameValues(b, a)
	}
	return (b == nil) == (a == nil)
}
