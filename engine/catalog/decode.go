package catalog

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/crdjson"
)

// APIVersionBeta is the version of CRDs that a server has no longer taken since
// Kubernetes 1.22, and still reads where it is stored.
const APIVersionBeta = "apiextensions.k8s.io/v1beta1"

// Decode reads one CRD from JSON. One of apiextensions.k8s.io/v1beta1 is what a
// server that has it stored converts it to; what that version fills in, such as
// preserveUnknownFields: true, is filled in. The error is a *engine.WorkLimitError
// where its versions share more than there may be memory for.
func Decode(data []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	return crdjson.Decode(data, func(reason string) error {
		return &engine.WorkLimitError{Part: "schema", Reason: reason}
	})
}
