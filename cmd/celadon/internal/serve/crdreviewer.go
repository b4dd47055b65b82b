package serve

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine/vet"
)

// crdReviewer tells whether an API server would take a CRD: as new, or as one that a
// cluster has. It remembers the CRDs of the last reading. A nil judge refuses
// nothing.
type crdReviewer struct {
	kubeVersion string
	known, last map[[32]byte]error
}

// begin forgets all CRDs that the reading before this one did not see.
func (j *crdReviewer) begin() {
	if j != nil {
		j.last, j.known = j.known, map[[32]byte]error{}
	}
}

// refuses says why a server would not take a CRD; data is all of its JSON.
func (j *crdReviewer) refuses(doc *input.Document, data []byte) error {
	if j == nil {
		return nil
	}
	if doc.Duplicate != nil {
		return j.vet(doc, data) // its JSON does not show that, and is that of a good one
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
