package eval

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/panics"
)

// How it works: a server turns any panic of an evaluation into the rule's
// error, "internal error: …" with the panic's text. So some objects are refused
// because of a defect of cel-go or of the Kubernetes libraries, and Celadon has
// to refuse them too. A defect of Celadon's own must not become a verdict,
// though: only the panics below, each of which a test shows in upstream's own
// evaluation, are a rule's error. Any other is an *InternalError.

// InternalError means that an evaluation has no outcome because of a bug in
// Celadon: callers give it on as an error of theirs, never as a verdict.
type InternalError struct {
	// Panic is what the code panicked with, Stack where.
	Panic any
	Stack []byte
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error in celadon (please report it): %v", e.Panic)
}

// knownPanic is one that upstream's evaluation makes too.
type knownPanic struct {
	// in begins the name of the function that panics: upstream's own, or the
	// one that does here what upstream's does.
	in string
	// text begins the panic's.
	text string
	// upstream is the function of which this is known.
	upstream string
}

const (
	unhashable = "runtime error: hash of unhashable type "
	conversion = "interface conversion: "
	ours       = "github.com/celadon-cel/celadon/"
	lookup     = "github.com/google/cel-go/common/types.(*refValMapAccessor).Find"
)

// knownPanics are held against upstream by TestKnownPanics.
var knownPanics = []knownPanic{
	{ours + "types.(*mapListValue).", unhashable, "k8s.io/apiserver/pkg/cel/common.(*unstructuredMapList).getMap: a key of a map list that is a list or an object"},
	{ours + "engine/x/eval.newMap", unhashable, "cel-go/interpreter.(*evalMap).Exec: a key of bytes, or a semver"},
	{ours + "engine/x/eval.inConstants", unhashable, "cel-go/interpreter.(*evalSetMembership).Exec: bytes, or a semver, in a list of constants"},
	{lookup, unhashable, "the same function: bytes, or a semver, in a map that the rule writes"},
	{ours + "engine/x/eval.extensionCost", conversion, "cel-go/ext: the tracked cost of a call on a value that is an error, or null"},
}

// isKnown says whether upstream too panics with r in the function of that name.
func isKnown(r any, in string) bool {
	if _, ok := r.(upstreamPanic); ok {
		return true
	}
	text := fmt.Sprint(r)
	for _, known := range knownPanics {
		if strings.HasPrefix(in, known.in) && strings.HasPrefix(text, known.text) {
			return true
		}
	}
	return false
}

// panicked makes an error of a panic that is being recovered from.
func panicked(r any) error {
	if isKnown(r, panics.In()) {
		return fmt.Errorf("internal error: %v", r)
	}
	return &InternalError{Panic: r, Stack: debug.Stack()}
}
