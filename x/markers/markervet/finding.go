package markervet

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/markers"
)

// The levels of findings.
const (
	Error   = "error"
	Warning = "warning"
	Note    = "note"
)

// Finding is a problem in Go source or in a CRD that was generated from it.
type Finding struct {
	// ID is the name of a lint, the server's reason, or another keyword.
	ID, Description string
	Level           string
	Message         string
	// Rule is the expression of the rule, or "".
	Rule string
	// Shown holds lines that illustrate the finding.
	Shown []string
	// Position is in a Go file, and Line is the line of source there. If Position has no line number,
	// nothing in Go corresponds to the finding, CRD is the index of the CRD in the argument of Find,
	// and Field is the path in it.
	markers.Position
	Line  string
	CRD   int
	Field string
	// Near is the nearest enclosing field or type of a finding without a line number, if it is known.
	Near markers.Position
	// Write is a marker to add above Position, such as // +kubebuilder:validation:MaxItems=8, or "".
	Write string
	// Of is the type and field that the marker belongs to.
	Of string
	// Paths holds the affected paths of all CRDs.
	Paths []ObjectPath

	// Kind is the kind of the cause, or "". Lint is the lint, or nil.
	Kind engine.CauseKind
	Lint *vet.Lint

	value int64 // the bound, for advice
}

// ObjectPath is a path in the objects of a CRD.
type ObjectPath struct {
	CRD     string `json:"crd"`
	Version string `json:"version,omitempty"` // "" means all versions
	Path    string `json:"path"`
}

func (p ObjectPath) String() string {
	if p.Version == "" {
		return p.CRD + " " + phrase.Path(p.Path)
	}
	return p.CRD + " " + p.Version + " " + phrase.Path(p.Path)
}

// key identifies equal findings.
type key struct {
	id, message string
	at          markers.Position
	crd         int
	field       string
}

type findings struct {
	list     []Finding
	at       map[key]int
	reported map[pathKey]bool
}

type pathKey struct {
	finding int
	ObjectPath
}

func (all *findings) add(f Finding, paths ...ObjectPath) {
	k := key{f.ID, f.Message, f.Position, f.CRD, f.Field}
	if f.Lint != nil { // the message contains the path, but the finding is the same for each path
		k.message = ""
	}
	all.merge(k, f, paths...)
}

// merge returns the finding with a key, to which it adds paths. If no finding has the key, it adds f.
func (all *findings) merge(k key, f Finding, paths ...ObjectPath) *Finding {
	i, ok := all.at[k]
	if !ok {
		i = len(all.list)
		all.at[k] = i
		all.list = append(all.list, f)
	}
	known := &all.list[i]
	for _, p := range paths {
		if k := (pathKey{i, p}); !all.reported[k] {
			all.reported[k] = true
			known.Paths = append(known.Paths, p)
		}
	}
	return known
}

func (all *findings) sorted() []Finding {
	slices.SortStableFunc(all.list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(min(1, b.Position.Line), min(1, a.Position.Line)), cmp.Compare(a.File, b.File), cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.ID, b.ID))
	})
	return all.list
}

// advice adds a bound. A marker applies to all paths that it affects, so the smallest of their
// bounds makes all rules fit.
func (all *findings) advice(b *markers.Bound, a vet.Advice, fixable bool, path ObjectPath) {
	prefix, now, fit := "+kubebuilder:validation:", "", "all rules fit"
	if b.Items {
		prefix += "items:"
	}
	if a.Now > 0 {
		now = fmt.Sprintf(" (now %d)", a.Now)
	}
	if !fixable {
		fit = "all rules fit except those that no bounds can make fit"
	}
	marker := func(value int64) string { return fmt.Sprintf("// %s%s=%d", prefix, markerName(a.Set), value) }
	text := func(value int64) string {
		return fmt.Sprintf("write %s%s above %s: with all of the suggested bounds, %s", marker(value), now, b.Of, fit)
	}
	k := key{id: "advice", message: prefix + a.Set, at: b.Position} // the value differs from path to path
	f := all.merge(k, Finding{
		ID: "advice", Description: "A bound that makes rules fit", Level: Note,
		Position: b.Position, Line: b.Line, Of: b.Of, value: a.Value, Message: text(a.Value),
	}, path)
	if a.Value < f.value {
		f.value, f.Message = a.Value, text(a.Value)
	}
	if a.Now == 0 {
		f.Write = marker(f.value)
	}
}

// markerName returns the marker of a bound, such as MaxItems.
func markerName(set string) string { return string(set[0]-'a'+'A') + set[1:] }
