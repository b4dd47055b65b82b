package editor

import (
	"strings"

	"github.com/celadon-cel/celadon/engine"
)

// A CRDError is an error of the API server about a field of a CRD. Line and Column are its position in the text.
type CRDError struct {
	Line, Column   int
	Field, Message string
	Kind           engine.CauseKind
}

// inSchema returns e without the version of its field.
func (e CRDError) inSchema() CRDError {
	if _, field, ok := strings.Cut(e.Field, ".openAPIV3Schema"); ok {
		e.Field = field
	}
	return e
}

// Repeats reports for each error whether an editor can leave it out, because another error at the same position has
// the same cause. A rule that is too expensive causes an error of its own, another because the rule contributes to the
// total, and a third because of the total. Versions that share a schema in the text repeat all of them.
func Repeats(errors []CRDError) []bool {
	type position struct{ line, column int }
	over := map[position]bool{}
	known := map[CRDError]bool{}
	repeats := make([]bool, len(errors))
	for i, e := range errors {
		repeats[i] = known[e.inSchema()]
		known[e.inSchema()] = true
		if e.Kind == engine.CauseRuleCost {
			over[position{e.Line, e.Column}] = true
		}
	}
	explained := len(over) > 0 // whether the other errors explain the total
	for i, e := range errors {
		if e.Kind == engine.CauseShareOfCost {
			at := position{e.Line, e.Column}
			repeats[i] = repeats[i] || over[at]
			explained = explained && over[at]
		}
	}
	for i, e := range errors {
		repeats[i] = repeats[i] || explained && e.Kind == engine.CauseTotalCost
	}
	return repeats
}
