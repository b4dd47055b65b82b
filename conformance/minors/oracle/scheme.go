package main

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

func init() { install.Install(scheme) }

// decodeCRD sets defaults and converts to the internal version, like the server.
func decodeCRD(data []byte) (*apiextensions.CustomResourceDefinition, error) {
	obj, err := runtime.Decode(codecs.UniversalDecoder(apiextensions.SchemeGroupVersion), data)
	if err != nil {
		return nil, fmt.Errorf("decode the CRD: %w", err)
	}
	crd, ok := obj.(*apiextensions.CustomResourceDefinition)
	if !ok {
		return nil, fmt.Errorf("decode the CRD: got %T", obj)
	}
	return crd, nil
}

func toV1(crd *apiextensions.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	v1 := &apiextensionsv1.CustomResourceDefinition{}
	if err := scheme.Convert(crd, v1, nil); err != nil {
		return nil, err
	}
	return v1, nil
}
