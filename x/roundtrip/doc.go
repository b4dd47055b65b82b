// Package roundtrip finds data that a converter between the versions of a CRD loses. It looks for objects that one
// version admits and that change when they are converted to another version and back.
//
//	r, err := roundtrip.Test(ctx, crd, conversion.Func(convert), roundtrip.Config{})
//	for _, f := range r.Findings {
//		fmt.Println(f)
//	}
//
// A test without findings is not a proof; it only covers the objects that were tried.
package roundtrip

// How it works. For each ordered pair of versions, x/analysis/search generates objects that the first version admits
// (forms.go). Each object is converted to the other version, which must admit the result, and back, twice. It is also
// converted with a change in between, as a client makes that only knows the other version (trip.go). The engine
// performs the conversions, with pruning as between server and storage, but with a CRD without defaults, because
// values from defaults are not the converter's work. Each difference (differ.go) is a finding for its path in the
// schema. The first object that demonstrates a finding is shrunk (shrink.go). The same seed produces the same
// objects.
