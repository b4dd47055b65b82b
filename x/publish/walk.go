package publish

import "maps"

// resolved is what a schema refers to, or the schema itself.
func (p *Place) resolved(s node) node {
	if to := p.types[s.Text("$ref")]; to != nil {
		return to
	}
	return s
}

// field finds a field as kubectl does: among the properties, or those of a list's
// items or a map's entries, or of a part of allOf. through is how many lists and
// maps lie between.
func (p *Place) field(s node, name string) (found node, through int) {
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

// names are all that field finds.
func (p *Place) names(s node) map[string]any {
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

// elements are a list's items or else a map's entries; nil where a schema says
// nothing of them.
func elements(s node) node {
	for _, below := range []string{"items", "additionalProperties"} {
		if part := s.Child(below); len(part) > 0 {
			return part
		}
	}
	return nil
}

// junctor are the schemas that a schema combines.
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
