package publish

import "slices"

// resolved is what a schema refers to, or the schema itself.
func (p *Place) resolved(s node) node {
	if to := p.types[s.Text("$ref")]; to != nil {
		return to
	}
	return s
}

// below is a schema behind a field's name, and whether the field must be there.
type below struct {
	schema   node
	required bool
}

// field finds a field as kubectl does: among the properties, or those of a
// list's items or a map's entries, or of a part of allOf. through is how many
// lists and maps lie between.
func (p *Place) field(s node, name string) (found *below, through int) {
	for {
		if field, ok := s.Child("properties")[name].(map[string]any); ok {
			return &below{field, slices.Contains(list(s["required"]), any(name))}, through
		}
		next := elements(s)
		if next == nil {
			break
		}
		s, through = p.resolved(next), through+1
	}
	for _, part := range list(s["allOf"]) {
		part, _ := part.(map[string]any)
		if found, more := p.field(p.resolved(part), name); found != nil {
			return found, through + more
		}
	}
	return nil, 0
}

// fieldsOf are all names that field finds.
func (p *Place) fieldsOf(s node) map[string]any {
	for len(s.Child("properties")) == 0 && elements(s) != nil {
		s = p.resolved(elements(s))
	}
	names := s.Child("properties")
	for _, part := range list(s["allOf"]) {
		part, _ := part.(map[string]any)
		if more := p.fieldsOf(p.resolved(part)); len(names) == 0 {
			names = more
		}
	}
	return names
}

// elements are a list's items or else a map's entries; nil where a schema says
// nothing of them.
func elements(s node) node {
	if items := s.Child("items"); len(items) > 0 {
		return items
	}
	if entries := s.Child("additionalProperties"); len(entries) > 0 {
		return entries
	}
	return nil
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}
