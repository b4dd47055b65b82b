package minors

import "sync"

// Each returns a function that returns of(minor) and caches the result for each minor version. It is safe for
// concurrent use, but concurrent first calls can call of more than once.
func Each[T any](of func(minor int) *T) func(minor int) *T {
	var known sync.Map
	return func(minor int) *T {
		v, ok := known.Load(minor)
		if !ok {
			v, _ = known.LoadOrStore(minor, of(minor))
		}
		return v.(*T)
	}
}
