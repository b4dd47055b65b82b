// Package roundtrip finds what a converter between the versions of a CRD loses:
// objects that one version admits and that do not come back from another as they
// were.
//
//	r, err := roundtrip.Test(ctx, crd, conversion.Func(convert), roundtrip.Config{})
//	for _, f := range r.Findings {
//		fmt.Println(f)
//	}
//
// That nothing was found proves nothing: it was looked at so many objects.
package roundtrip

// How it works: for each ordered pair of versions x/analysis/search makes objects that
// the first admits (worlds.go). Each is converted to the other version, which has
// to admit what comes, and back, twice; and once with a change in between, as a
// client makes it who only knows the other version (trip.go). Conversion is the
// engine's own, with pruning as between server and storage, but with a CRD that
// has no defaults: what a default adds is not the converter's doing. What differs
// (differ.go) is a finding for its place in the schema; the first object that
// shows it is made smaller (shrink.go). The same seed gives the same objects.
