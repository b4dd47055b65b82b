package estimate

// Declaration is what the schema declares at a place that an expression reads.
type Declaration interface {
	// Child returns the declaration one step below: at an identifier, or at @items,
	// @values or @keys, as cel-go's checker writes paths. It is nil where nothing is
	// declared.
	Child(step string) Declaration
	// MaxSize returns the greatest size of a value, as the API server assumes it.
	MaxSize() int64
}

// place is what a path from a variable leads to; checker.Cost writes the path as
// names.
type place struct {
	// steps are the names in the path; 0 for what has no place.
	steps int
	decl  Declaration // nil where nothing is declared
	// variable is the steps of the macro's variable that the path begins with; 0
	// where it begins with none.
	variable int
}

func (p place) step(root Declaration, name string) place {
	to := place{steps: p.steps + 1, variable: p.variable}
	switch {
	case p.steps == 0:
		to.decl = root // whatever the name is
	case p.decl != nil:
		to.decl = p.decl.Child(name)
	}
	return to
}

// checker.Cost appends a name to its slice of a variable's path for each field that
// is read of the variable. As long as the slice has room, each is written over the
// one before, and a path that is kept meanwhile (what a macro goes over, what an
// index is into) leads elsewhere. The server's numbers come of that.

// inRoom is true for paths of a number of steps that are in the very slice of the
// variable that they begin with. Slices double when they are full.
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

// overwritten is true for paths that another use of their variable may change.
func (p place) overwritten() bool { return p.steps > p.variable && p.inRoom(p.steps) }
