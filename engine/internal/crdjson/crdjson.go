// Package crdjson decodes CustomResourceDefinitions of v1 and v1beta1 from JSON.
package crdjson

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

const (
	crdKind        = "CustomResourceDefinition"
	apiVersion     = "apiextensions.k8s.io/v1"
	apiVersionBeta = "apiextensions.k8s.io/v1beta1"
)

// Decode decodes a CRD of v1 or v1beta1. Like the server, it drops unknown fields, and fields whose names
// differ in case, such as MaxLength. It converts a v1beta1 CRD as a server converts a stored
// CRD, including the defaults of v1beta1. If copying the fields that all versions share into each
// version would exceed a limit, Decode returns an error that wraps the result of tooLarge.
func Decode(data []byte, tooLarge func(reason string) error) (*apiextensionsv1.CustomResourceDefinition, error) {
	var head metav1.TypeMeta
	if err := utiljson.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("not a %s: %w", crdKind, err)
	}
	if head.Kind != crdKind {
		return nil, fmt.Errorf("kind %q: want %s", head.Kind, crdKind)
	}
	out := &apiextensionsv1.CustomResourceDefinition{}
	var err error
	switch head.APIVersion {
	case apiVersion:
		err = utiljson.Unmarshal(data, out)
	case apiVersionBeta:
		err = decodeBeta(data, out, tooLarge)
	default:
		return nil, fmt.Errorf("apiVersion %q: want %s", head.APIVersion, apiVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("not a %s: %w", crdKind, err)
	}
	return out, nil
}

// maxShared limits the total size, in bytes, of the copies of the fields that all versions of a
// v1beta1 CRD share. Without a limit, the copies for a CRD that fits into etcd could exhaust memory.
const maxShared = 4 << 20

func checkShared(spec *v1beta1.CustomResourceDefinitionSpec, tooLarge func(reason string) error) error {
	shared, err := json.Marshal([]any{spec.Validation, spec.Subresources, spec.AdditionalPrinterColumns, spec.SelectableFields})
	if n := len(spec.Versions); err == nil && n > 1 && len(shared) > maxShared/n {
		return tooLarge(fmt.Sprintf("%d KiB that %d versions share: want at most %d KiB in all (give each version its own schema)", len(shared)>>10, n, maxShared>>10))
	}
	return err
}

// decodeBeta converts as the server does: it sets the defaults of v1beta1, converts to the internal version, and then
// to v1.
func decodeBeta(data []byte, out *apiextensionsv1.CustomResourceDefinition, tooLarge func(reason string) error) error {
	in, internal := &v1beta1.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	if err := utiljson.Unmarshal(data, in); err != nil {
		return err
	}
	if err := checkShared(&in.Spec, tooLarge); err != nil {
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
