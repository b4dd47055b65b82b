package conformance

import (
	"encoding/json"
	"fmt"

	"github.com/celadon-cel/celadon/conformance/fuzz"
	"github.com/celadon-cel/celadon/engine"
)

// writesPerWorld are tried of each made-up CRD: to serve it takes the server
// longer than to answer them.
const writesPerWorld = 8

// Worlds are made-up CRDs with made-up writes, one group a seed, for Sweep. A
// seed whose schema no CRD can have is left out.
func Worlds(first, n uint64) []*Group {
	library := fuzz.NewLibrary()
	var out []*Group
	for seed := first; seed < first+n; seed++ {
		w := fuzz.NewWorld(seed, library)
		if w == nil {
			continue
		}
		g := &Group{CRD: &CRD{Path: fmt.Sprintf("world-%d", seed), Definition: w.Definition()}}
		for i, write := range w.Writes(writesPerWorld) {
			g.Cases = append(g.Cases, &Case{
				ID: fmt.Sprintf("%d/%d", seed, i), Project: "worlds", CRD: g.CRD,
				Version: write.Version, OldVersion: write.OldVersion, Subresource: write.Subresource, FieldValidation: write.FieldValidation,
				Object: decoded(write.Object), OldObject: decoded(write.Old),
			})
		}
		out = append(out, g)
	}
	return out
}

// decoded is a made-up object as a server reads it: 1e18 is an integer there.
func decoded(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // it is made of JSON's types
	}
	if object, err = engine.Decode(data); err != nil {
		panic(err)
	}
	return object
}
