package search

import "github.com/celadon-cel/celadon/engine"

// Passwords are the places of an object whose format is password: what stands
// there was made up, as all else, and is to be told so.
func (s *Search) Passwords(obj map[string]any) (paths []string) {
	var walk func(n node, v any, path []engine.Step)
	walk = func(n node, v any, path []engine.Step) {
		if n.s != nil && n.s.ValueValidation != nil && n.s.ValueValidation.Format == "password" {
			paths = append(paths, engine.FormatPath(path))
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for _, name := range sortedKeys(v) {
				walk(n.field(name), v[name], append(path[:len(path):len(path)], engine.Step{Name: name}))
			}
		case []any:
			for i, item := range v {
				walk(n.items(), item, append(path[:len(path):len(path)], engine.Step{Item: true, Index: i}))
			}
		}
	}
	walk(s.root, obj, nil)
	return paths
}
