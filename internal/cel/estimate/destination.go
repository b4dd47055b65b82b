package estimate

import "math"

// A Declaration is the declaration of a path that an expression reads.
type Declaration interface {
	// Child returns the declaration one step below. A step is an identifier, @items, @values,
	// @keys, or @indices, as in the paths of cel-go's checker. Child returns nil if nothing is
	// declared there.
	Child(step string) Declaration
	// MaxSize returns the maximum size of a value that the API server assumes.
	MaxSize() int64
}

// A destination is the path of a value, which begins at a variable, and the declaration of that value.
type destination struct {
	// steps is the number of names in the path, or 0 without a path.
	steps int
	// decl is the declaration, or nil if nothing is declared. It is not used in a literal walk.
	decl Declaration
	// variable is the number of steps of the macro variable with which the path begins, or 0 if it
	// does not begin with a macro variable.
	variable int
	// path holds the names. It is only set in a literal walk.
	path []string
}

func (w *walk) step(p destination, name string) destination {
	to := destination{steps: p.steps + 1, variable: p.variable}
	switch {
	case w.literalPaths:
		to.path = append(p.path, name) // may overwrite a name of another path, as in checker.Cost
	case p.steps == 0:
		to.decl = w.roots(name)
	case p.decl != nil:
		to.decl = p.decl.Child(name)
	}
	return to
}

// below is like step, but with nestedSizes, only a value at a path has a path below.
func (w *walk) below(p destination, name string) destination {
	if w.has[nestedSizes] && p.steps == 0 {
		return destination{}
	}
	return w.step(p, name)
}

func (w *walk) declared(p destination) Declaration {
	if !w.literalPaths {
		return p.decl
	}
	if len(p.path) == 0 {
		return nil
	}
	d := w.roots(p.path[0])
	if d == nil {
		return nil
	}
	for _, name := range p.path[1:] {
		if d = d.Child(name); d == nil {
			return nil
		}
	}
	return d
}

// checker.Cost appends a name to the slice that holds a variable's path for each field read from
// the variable. While the slice has spare capacity, each name overwrites the previous one. A path
// that is still in use (the range of a macro, or the operand of an index) then refers to another
// declaration. The API server's estimates include this error, so they depend on the capacity.
// Where it can matter, the walk starts over and holds paths in slices as checker.Cost does.

// inSpareCapacity reports whether a path with the given number of steps shares the slice of the variable
// with which it begins. Slices double their capacity when they are full.
func (p destination) inSpareCapacity(steps int) bool {
	if p.variable == 0 {
		return false
	}
	capacity := 1
	for capacity < p.variable {
		capacity *= 2
	}
	return steps <= capacity
}

// hasSpareCapacity reports whether the slice of a path can hold another step. The paths of the two
// variables of a macro then share it.
func (p destination) hasSpareCapacity() bool { return p.steps > 0 && p.steps&(p.steps-1) != 0 }

// overwritten reports whether another use of its variable can change the path.
func (p destination) overwritten() bool { return p.steps > p.variable && p.inSpareCapacity(p.steps) }

type sized struct {
	max   uint64
	entry *sized // of each item or value, if known
}

// declaration returns the declaration of a value that is not at a declared path, or nil if its size
// is not known or not bounded.
func (x *priced) declaration() Declaration {
	if !x.size.known || x.size.Max > math.MaxInt64 {
		return nil
	}
	d := sized{max: x.size.Max}
	switch {
	case x.entries.known && x.entries.val.Max <= math.MaxInt64:
		d.entry = &sized{max: x.entries.val.Max}
	case x.size.elem != nil && x.size.elem.Max <= math.MaxInt64:
		d.entry = &sized{max: x.size.elem.Max}
	}
	return d
}

func (d sized) Child(step string) Declaration {
	if d.entry != nil && (step == "@items" || step == "@values") {
		return *d.entry
	}
	return nil
}

func (d sized) MaxSize() int64 { return int64(d.max) }
