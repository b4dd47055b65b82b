package catalog

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/crdjson"
)

// APIVersionBeta is the version of CRDs that servers have rejected since Kubernetes 1.22, but still
// read from storage.
const APIVersionBeta = "apiextensions.k8s.io/v1beta1"

// Decode decodes a CRD from JSON. A CRD of apiextensions.k8s.io/v1beta1 is converted as a server
// converts a stored CRD, including the defaults of that version, such as preserveUnknownFields:
// true. Decode returns a *engine.WorkLimitError if such a conversion would need too much memory.
func Decode(data []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	return crdjson.Decode(data, func(reason string) error {
		return &engine.WorkLimitError{Part: "schema", Reason: reason}
	})
}
