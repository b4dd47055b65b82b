package eval

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/panics"
)

// How it works: the API server turns a panic of an evaluation into an error of the rule, with the
// prefix "internal error: ". So it rejects some objects because of a defect in cel-go or in the
// Kubernetes libraries, and Celadon must reject them too. But a defect in Celadon must not become a
// verdict. So only the panics listed below are errors of the rule; a test shows that upstream's own
// evaluation has each of them. Any other panic is an *InternalError.

// InternalError means that an evaluation has no outcome because of a bug in Celadon. Callers must
// return it as an error, not as a verdict.
type InternalError struct {
	// Panic is the recovered value, and Stack is the stack trace of the panic.
	Panic any
	Stack []byte
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error in celadon (please report it): %v", e.Panic)
}

// A knownPanic is a panic that upstream's evaluation has too.
type knownPanic struct {
	// in is a prefix of the name of the function that panics: upstream's function, or Celadon's
	// counterpart.
	in string
	// text is a prefix of the panic's message.
	text string
	// upstream names the upstream function that panics, and the cause.
	upstream string
}

const (
	unhashable = "runtime error: hash of unhashable type "
	conversion = "interface conversion: "
	ours       = "github.com/celadon-cel/celadon/"
	lookup     = "github.com/google/cel-go/common/types.(*refValMapAccessor).Find"
)

// knownPanics lists the panics of upstream's evaluation. TestKnownPanics checks each of them.
var knownPanics = []knownPanic{
	{ours + "engine/x/celvalue.(*mapListValue).", unhashable, "k8s.io/apiserver/pkg/cel/common.(*unstructuredMapList).getMap: a key of a map list that is a list or an object"},
	{ours + "engine/x/eval.newMap", unhashable, "cel-go/interpreter.(*evalMap).Exec: a key of bytes, or a semver"},
	{ours + "engine/x/eval.(*frame).in", unhashable, "cel-go/interpreter.(*evalSetMembership).Exec: bytes, or a semver, in a list of constants"},
	{lookup, unhashable, "the same function: bytes, or a semver, in a map that the rule writes"},
	{ours + "engine/x/eval.(*semantics).extensionCost", conversion, "cel-go/ext: the tracked cost of a call on a value that is an error, or null"},
}

// olderPanics lists the panics of older versions only. TestVersions has a rule for each of them.
var olderPanics = []knownPanic{
	{ours + "engine/x/celvalue.(*setValue).", unhashable, "k8s.io/apiserver/pkg/cel/common.(*unstructuredSetList): until 1.36, an item of a set that is a list, an object, or bytes"},
}

// isKnown reports whether upstream also panics with r in the function named in.
func isKnown(r any, in string) bool {
	if _, ok := r.(upstreamPanic); ok {
		return true
	}
	text := fmt.Sprint(r)
	for _, known := range append(olderPanics, knownPanics...) {
		if strings.HasPrefix(in, known.in) && strings.HasPrefix(text, known.text) {
			return true
		}
	}
	return false
}

// panicked converts a recovered panic to an error.
func panicked(r any) error {
	if isKnown(r, panics.In()) {
		return fmt.Errorf("internal error: %v", r)
	}
	return &InternalError{Panic: r, Stack: debug.Stack()}
}
