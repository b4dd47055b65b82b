package search

import "github.com/celadon-cel/celadon/engine"

// Passwords returns the paths of values in obj whose format is password. The search made them up
// like any other value, and users must be warned about that.
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
