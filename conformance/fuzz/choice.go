package fuzz

import "math/rand/v2"

// choice makes the random decisions for a scenario. Equal seeds result in equal scenarios.
type choice struct {
	*rand.Rand
	// lenient is set for scenarios whose rules and schemas accept most objects.
	lenient bool
}

func newChoice(seed uint64) choice {
	return choice{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), isLenient(seed)}
}

// Half of the seeds are lenient, both with and without a status subresource.
func isLenient(seed uint64) bool { return seed%4 == 1 || seed%4 == 2 }

func (c choice) one(n int) bool { return c.IntN(n) == 0 }

func pick[T any](c choice, from []T) T { return from[c.IntN(len(from))] }
