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

// APIVersionBeta is the version of CRDs that a server has no longer taken since
// Kubernetes 1.22, and still reads where it is stored.
const APIVersionBeta = "apiextensions.k8s.io/v1beta1"

// Decode reads one CRD from JSON. One of apiextensions.k8s.io/v1beta1 is what a
// server that has it stored converts it to; what that version fills in, such as
// preserveUnknownFields: true, is filled in. The error is a *engine.WorkLimitError
// where its versions share more than there may be memory for.
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

// maxShared bounds what of an old CRD all its versions share, as often as there are
// versions: each gets its own, and what etcd takes of a CRD can then be more than
// there is memory for.
const maxShared = 4 << 20

// bounded is a *engine.WorkLimitError where they share more.
func bounded(spec *v1beta1.CustomResourceDefinitionSpec) error {
	shared, err := json.Marshal([]any{spec.Validation, spec.Subresources, spec.AdditionalPrinterColumns, spec.SelectableFields})
	if n := len(spec.Versions); err == nil && n > 1 && len(shared) > maxShared/n {
		return &engine.WorkLimitError{Part: "schema", Reason: fmt.Sprintf("%d KiB that %d versions share: want no more than %d KiB in all (give versions schemas of their own)", len(shared)>>10, n, maxShared>>10)}
	}
	return err
}

// decodeBeta takes the server's way: defaults of the old version, then its form
// for all versions, then v1.
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
