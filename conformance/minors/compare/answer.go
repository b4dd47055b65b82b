package compare

import (
	"encoding/json"
	"errors"
)

// A WriteAnswer is the libraries' complete result for a write.
type WriteAnswer = writeAnswer

// Answer returns the libraries' result for a write, or nil if they cannot decode it or panic.
func (o *Oracle) Answer(w *Write) (*WriteAnswer, error) {
	a, _, err := o.answer(&request{CRD: w.CRD, Version: w.Version, Subresource: w.Subresource, Object: w.Object, Old: w.Old})
	if err != nil || a == nil {
		return nil, err
	}
	return a.Write, nil
}

// Accepts reports whether the libraries accept a new CRD.
func (o *Oracle) Accepts(crd json.RawMessage) (bool, error) {
	v, err := o.CRD(crd)
	return err == nil && len(v[crdError])+len(v[panics])+len(v[unreadable]) == 0, err
}

// Sent returns the warnings that a server sends: without duplicates, and without those that contain
// control characters.
func Sent(warnings []string) []string { return sent(warnings) }

// Random reports whether a message has parts that are random in a server: a time or an address.
func Random(message string) bool { return withoutChance(message) != message }

// Release returns the version of the library for custom resources, k8s.io/apiextensions-apiserver.
func (o *Oracle) Release() (string, error) {
	if err := o.encoder.Encode(map[string]bool{"info": true}); err != nil {
		return "", err
	}
	var a struct {
		Info struct{ Modules map[string]string }
	}
	if err := o.decoder.Decode(&a); err != nil {
		return "", err
	}
	release := a.Info.Modules["k8s.io/apiextensions-apiserver"]
	if release == "" {
		return "", errors.New("the oracle does not know its release")
	}
	return release, nil
}
