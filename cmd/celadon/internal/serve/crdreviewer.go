package serve

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine/vet"
)

// A crdReviewer determines whether an API server would accept a CRD, either as new or as stored in a
// cluster. It caches the results of the last reading. A nil *crdReviewer accepts every CRD.
type crdReviewer struct {
	kubeVersion string
	known, last map[[32]byte]error
}

// begin starts a new reading. Results that the previous reading did not use are dropped.
func (j *crdReviewer) begin() {
	if j != nil {
		j.last, j.known = j.known, map[[32]byte]error{}
	}
}

// rejects returns the reason why a server would reject a CRD, or nil. Data is the CRD's complete
// JSON.
func (j *crdReviewer) rejects(doc *input.Document, data []byte) error {
	if j == nil {
		return nil
	}
	if doc.Duplicate != nil {
		return j.vet(doc, data) // data does not show duplicate keys, so its digest may equal a valid CRD's digest
	}
	digest := sha256.Sum256(data)
	why, known := j.last[digest]
	if !known {
		why = j.vet(doc, data)
	}
	j.known[digest] = why
	return why
}

func (j *crdReviewer) vet(doc *input.Document, data []byte) error {
	verdict, err := vet.Vet(context.Background(), data, vet.Config{
		KubeVersion: j.kubeVersion, Stored: resource.Stored(doc.Object), DuplicateKeys: doc.Duplicate, VerdictOnly: true, Beta: true,
	})
	switch {
	case err != nil:
		return err
	case verdict.Status != nil:
		return errors.New(brief(verdict.Status.Message))
	case verdict.Undecided != nil:
		return verdict.Undecided
	}
	return nil
}
