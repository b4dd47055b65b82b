package estimate

// A Declaration is the declaration of a path that an expression reads.
type Declaration interface {
	// Child returns the declaration one step below. A step is an identifier, @items, @values, or
	// @keys, as in the paths of cel-go's checker. Child returns nil if nothing is declared there.
	Child(step string) Declaration
	// MaxSize returns the maximum size of a value that the API server assumes.
	MaxSize() int64
}

// A place is the destination of a path from a variable. checker.Cost stores the path as names.
type place struct {
	// steps is the number of names in the path, or 0 without a path.
	steps int
	decl  Declaration // nil if nothing is declared
	// variable is the number of steps of the macro variable with which the path begins, or 0 if it
	// does not begin with a macro variable.
	variable int
}

func (p place) step(root Declaration, name string) place {
	to := place{steps: p.steps + 1, variable: p.variable}
	switch {
	case p.steps == 0:
		to.decl = root // regardless of the name
	case p.decl != nil:
		to.decl = p.decl.Child(name)
	}
	return to
}

// checker.Cost appends a name to the slice that holds a variable's path for each field read from
// the variable. While the slice has spare capacity, each name overwrites the previous one. A path
// that is still in use (the range of a macro, or the operand of an index) then refers to another
// declaration. The API server's estimates include this error, so they depend on the capacity.

// inRoom reports whether a path with the given number of steps shares the slice of the variable
// with which it begins. Slices double their capacity when they are full.
func (p place) inRoom(steps int) bool {
	if p.variable == 0 {
		return false
	}
	room := 1
	for room < p.variable {
		room *= 2
	}
	return steps <= room
}

// overwritten reports whether another use of its variable can change the path.
func (p place) overwritten() bool { return p.steps > p.variable && p.inRoom(p.steps) }
