package minors

import "sync"

// Each returns a function that computes the value of a minor version with of, once for each version. It is safe for
// concurrent use.
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
