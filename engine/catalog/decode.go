package catalog

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
)

// APIVersionBeta is the version of CRDs that servers have rejected since Kubernetes 1.22, but still
// read from storage.
const APIVersionBeta = "apiextensions.k8s.io/v1beta1"

// Decode decodes one CRD from JSON. A CRD of apiextensions.k8s.io/v1beta1 is converted as a server
// converts a stored one, including the defaults of that version, such as preserveUnknownFields:
// true. Decode returns a *engine.WorkLimitError if such a conversion would need too much memory.
func Decode(data []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	var head metav1.TypeMeta
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("not a %s: %w", crdKind, err)
	}
	if head.Kind != crdKind {
		return nil, fmt.Errorf("kind %q: want %s", head.Kind, crdKind)
	}
	out := &apiextensionsv1.CustomResourceDefinition{}
	var err error
	switch head.APIVersion {
	case apiVersion:
		err = json.Unmarshal(data, out)
	case APIVersionBeta:
		err = decodeBeta(data, out)
	default:
		return nil, fmt.Errorf("apiVersion %q: want %s", head.APIVersion, apiVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("not a %s: %w", crdKind, err)
	}
	return out, nil
}

// maxShared limits the size of the parts of a v1beta1 CRD that all versions share, times the number
// of versions, in bytes. Each version gets a copy, which could need more memory than there is for a
// CRD that etcd accepts.
const maxShared = 4 << 20

// bounded returns a *engine.WorkLimitError if the shared parts exceed maxShared.
func bounded(spec *v1beta1.CustomResourceDefinitionSpec) error {
	shared, err := json.Marshal([]any{spec.Validation, spec.Subresources, spec.AdditionalPrinterColumns, spec.SelectableFields})
	if n := len(spec.Versions); err == nil && n > 1 && len(shared) > maxShared/n {
		return &engine.WorkLimitError{Part: "schema", Reason: fmt.Sprintf("%d KiB that %d versions share: want no more than %d KiB in all (give versions schemas of their own)", len(shared)>>10, n, maxShared>>10)}
	}
	return err
}

// decodeBeta converts as the server does: it applies the defaults of v1beta1 and converts to the
// internal version, then to v1.
func decodeBeta(data []byte, out *apiextensionsv1.CustomResourceDefinition) error {
	in, internal := &v1beta1.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	if err := json.Unmarshal(data, in); err != nil {
		return err
	}
	if err := bounded(&in.Spec); err != nil {
		return err
	}
	v1beta1.SetObjectDefaults_CustomResourceDefinition(in)
	if err := v1beta1.Convert_v1beta1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(in, internal, nil); err != nil {
		return err
	}
	if err := apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(internal, out, nil); err != nil {
		return err
	}
	out.TypeMeta = metav1.TypeMeta{Kind: crdKind, APIVersion: apiVersion}
	return nil
}
