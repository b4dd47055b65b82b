package markervet

import (
	"cmp"
	"fmt"
	"slices"

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

// Finding is one thing to say of Go source.
type Finding struct {
	// ID names what was found: a lint, the server's reason, or another word.
	ID, Description string
	Level           string
	Message         string
	// Rule is the text of the rule that it is about; "" is none.
	Rule string
	// Shown are lines that show it.
	Shown []string
	// Position is in a Go file, whose line has the text Line. It has no line where
	// nothing in Go stands for what is meant: then CRD and Field say where it stands
	// in that CRD's file.
	markers.Position
	Line  string
	CRD   int
	Field string
	// Near is then the field or the type around what is meant, or nothing.
	Near markers.Position
	// Write is a marker that is missing above Position, as
	// // +kubebuilder:validation:MaxItems=8; "" is none.
	Write string
	// Of is the type, and the field, that the marker stands at.
	Of string
	// Places are those in the CRDs.
	Places []Place

	lint  bool
	value int64 // of advice
}

// Place is one in objects of a CRD.
type Place struct {
	CRD     string `json:"crd"`
	Version string `json:"version,omitempty"` // "" is all
	Path    string `json:"path"`
}

func (p Place) String() string {
	if p.Version == "" {
		return p.CRD + " " + phrase.Place(p.Path)
	}
	return p.CRD + " " + p.Version + " " + phrase.Place(p.Path)
}

// key is what makes two findings one.
type key struct {
	id, message string
	at          markers.Position
	crd         int
	field       string
}

// findings puts equal ones together.
type findings struct {
	list   []Finding
	at     map[key]int
	placed map[placeKey]bool
	// bounds are the findings of advice, whose values differ from place to place.
	bounds map[boundKey]int
}

func (all *findings) add(f Finding, places ...Place) {
	k := key{f.ID, f.Message, f.Position, f.CRD, f.Field}
	if f.lint { // its words name the place, but it is the same at each
		k.message = ""
	}
	i, ok := all.at[k]
	if !ok {
		i = len(all.list)
		all.at[k] = i
		all.list = append(all.list, f)
	}
	all.put(i, places)
}

// placeKey is a place of a finding.
type placeKey struct {
	finding int
	Place
}

func (all *findings) put(i int, places []Place) {
	for _, p := range places {
		if k := (placeKey{i, p}); !all.placed[k] {
			all.placed[k] = true
			all.list[i].Places = append(all.list[i].Places, p)
		}
	}
}

// sorted are all findings by their place, those that have none in Go at the end.
func (all *findings) sorted() []Finding {
	slices.SortStableFunc(all.list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(min(1, b.Position.Line), min(1, a.Position.Line)), cmp.Compare(a.File, b.File), cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.ID, b.ID))
	})
	return all.list
}

// boundKey is one bound at one place in Go.
type boundKey struct {
	at  markers.Position
	set string
}

// advice adds a bound. One marker is for all places that it feeds, so the least of
// their bounds is the one that makes all rules fit.
func (all *findings) advice(b *markers.Bound, a vet.Advice, mendable bool, place Place) {
	prefix, now, fit := "+kubebuilder:validation:", "", "all rules fit"
	if b.Items {
		prefix += "items:"
	}
	if a.Now > 0 {
		now = fmt.Sprintf(" (now %d)", a.Now)
	}
	if !mendable {
		fit = "the rules fit that bounds can make fit"
	}
	marker := func(value int64) string { return fmt.Sprintf("// %s%s=%d", prefix, markerName(a.Set), value) }
	text := func(value int64) string {
		return fmt.Sprintf("write %s%s above %s: with all bounds that are noted, %s", marker(value), now, b.Of, fit)
	}
	value, set := a.Value, a.Set
	k := boundKey{b.Position, set}
	if b.Items {
		k.set = "items:" + set
	}
	i, ok := all.bounds[k]
	if !ok {
		i = len(all.list)
		all.bounds[k] = i
		all.list = append(all.list, Finding{
			ID: "advice", Description: "A bound that makes rules fit", Level: Note,
			Position: b.Position, Line: b.Line, Of: b.Of, value: value, Message: text(value),
		})
	}
	f := &all.list[i]
	if value < f.value {
		f.value, f.Message = value, text(value)
	}
	if a.Now == 0 {
		f.Write = marker(f.value)
	}
	all.put(i, []Place{place})
}

// markerName is the marker of a bound: MaxItems.
func markerName(set string) string { return string(set[0]-'a'+'A') + set[1:] }
