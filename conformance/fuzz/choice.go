package fuzz

import "math/rand/v2"

// choice makes the decisions of one world; the same seed makes the same world.
type choice struct {
	*rand.Rand
	// lenient worlds have rules and schemas that mostly accept.
	lenient bool
}

func newChoice(seed uint64) choice {
	return choice{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), isLenient(seed)}
}

// isLenient reports whether a world is lenient: half of them are, with and without a status subresource.
func isLenient(seed uint64) bool { return seed%4 == 1 || seed%4 == 2 }

// one in n times it is true.
func (c choice) one(n int) bool { return c.IntN(n) == 0 }

func pick[T any](c choice, from []T) T { return from[c.IntN(len(from))] }
