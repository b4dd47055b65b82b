package publish

import "maps"

// resolved returns the schema that s refers to, or s.
func (p *Target) resolved(s node) node {
	if to := p.types[s.Text("$ref")]; to != nil {
		return to
	}
	return s
}

// field finds a field as kubectl does: in the properties of s, of its items or entries, or of a
// part of allOf. through is the number of lists and maps in between.
func (p *Target) field(s node, name string) (found node, through int) {
	for ; s != nil; s, through = elements(s), through+1 {
		s = p.resolved(s)
		if found = s.Child("properties").Child(name); found != nil {
			return found, through
		}
		if elements(s) != nil {
			continue
		}
		for _, part := range junctor(s, "allOf") {
			if found, more := p.field(part, name); found != nil {
				return found, through + more
			}
		}
	}
	return nil, 0
}

// names returns all fields that field finds.
func (p *Target) names(s node) map[string]any {
	all := map[string]any{}
	for ; s != nil; s = elements(s) {
		s = p.resolved(s)
		maps.Copy(all, s.Child("properties"))
		if elements(s) != nil {
			continue
		}
		for _, part := range junctor(s, "allOf") {
			maps.Copy(all, p.names(part))
		}
	}
	return all
}

// elements returns the schema of a list's items or a map's entries, or nil.
func elements(s node) node {
	for _, below := range []string{"items", "additionalProperties"} {
		if part := s.Child(below); len(part) > 0 {
			return part
		}
	}
	return nil
}

// junctor returns the schemas in a list such as allOf.
func junctor(s node, word string) (all []node) {
	for _, part := range list(s[word]) {
		part, _ := part.(map[string]any)
		all = append(all, part)
	}
	return all
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}
