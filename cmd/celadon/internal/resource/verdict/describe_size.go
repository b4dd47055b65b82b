package verdict

import (
	"encoding/json"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
)

const (
	// maxBody is the largest request body, in bytes, that the API server accepts.
	maxBody = 3 << 20
	// maxStored is the largest request, in bytes, that etcd accepts by default. The API server adds
	// several hundred bytes to an object, which are not counted here.
	maxStored = 3 << 19
	// fitsBelow is the input size, in bytes, below which an object is not measured. Encoding turns a
	// byte into at most six, for example "<". Defaults and YAML aliases could add more, but that
	// does not justify measuring every object.
	fitsBelow = maxStored / 6
)

// couldBeTooLarge reports whether the stored form of doc must be measured.
func couldBeTooLarge(doc *input.Document) bool {
	if text := doc.FromJSON(); text != nil {
		return len(text) > fitsBelow
	}
	source, _, inList := doc.Source()
	return len(source) > fitsBelow && (!inList || subtractSize(doc.Object, fitsBelow) <= 0)
}

// subtractSize subtracts the approximate size of v from left and returns the rest. It stops when the rest
// is not positive.
func subtractSize(v any, left int) int {
	left--
	switch v := v.(type) {
	case string:
		return left - len(v)
	case map[string]any:
		for name, field := range v {
			if left = subtractSize(field, left-len(name)); left <= 0 {
				return left
			}
		}
	case []any:
		for _, item := range v {
			if left = subtractSize(item, left); left <= 0 {
				return left
			}
		}
	}
	return left
}

// tooLarge returns a warning if an accepted object is too large to be sent or stored. Sent returns
// the request's body.
func tooLarge(sent func() ([]byte, error), res *engine.Result) []string {
	if body, err := sent(); err == nil && len(body) > maxBody {
		return []string{fmt.Sprintf("the object has %d bytes as JSON, more than the %d (3 MiB) of a request body: the API server answers 413 (Request entity too large)", len(body), maxBody)}
	}
	if stored, err := json.Marshal(res.Stored); err == nil && len(stored) > maxStored {
		return []string{fmt.Sprintf("the object has %d bytes in storage, more than the %d (1.5 MiB) that etcd accepts by default: the API server answers 500 (etcdserver: request is too large; above 2 MiB: trying to send message larger than max)", len(stored), maxStored)}
	}
	return nil
}
