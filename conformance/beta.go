package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An API server no longer accepts v1beta1 CRDs, but it reads those that it has stored. So they are
// written to etcd in the form in which an old server stored them.

// serveBeta stores a CRD as v1beta1 JSON. definition is Celadon's v1 form of the CRD, which is compared
// with the server's.
func (s *Server) serveBeta(ctx context.Context, beta []byte, definition *apiextensionsv1.CustomResourceDefinition) (*Resource, []Difference, error) {
	out, err := s.convertedBeta(ctx, beta, definition)
	if err != nil {
		return nil, nil, err
	}
	r := newResource(s, definition)
	return r, out, r.waitUntilServed(ctx)
}

func (s *Server) convertedBeta(ctx context.Context, beta []byte, definition *apiextensionsv1.CustomResourceDefinition) ([]Difference, error) {
	var stored map[string]any
	if err := json.Unmarshal(beta, &stored); err != nil {
		return nil, err
	}
	status, err := valueOf(asEstablished(definition))
	if err != nil {
		return nil, err
	}
	stored["status"] = status["status"]
	metadata, _ := stored["metadata"].(map[string]any)
	for _, name := range []string{"uid", "generation", "creationTimestamp"} {
		metadata[name] = status["metadata"].(map[string]any)[name]
	}
	data, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	if _, err := s.store.Put(ctx, crdKey(definition.Name), string(data)); err != nil {
		return nil, err
	}
	got, err := s.do(ctx, http.MethodGet, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+definition.Name, nil)
	if err != nil {
		return nil, err
	}
	if got.code != http.StatusOK {
		return nil, fmt.Errorf("the server shows no such CRD: %d: %s", got.code, shorten(string(got.body), 300))
	}
	var shown apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(got.body, &shown); err != nil {
		return nil, err
	}
	return differentSpecs(&shown, definition)
}

func differentSpecs(right, ours *apiextensionsv1.CustomResourceDefinition) ([]Difference, error) {
	want, err := valueOf(&right.Spec)
	if err != nil {
		return nil, err
	}
	have, err := valueOf(&ours.Spec)
	if err != nil {
		return nil, err
	}
	if text := diff(want, have); text != "" {
		return []Difference{{"v1 of a v1beta1 CRD", shorten(text, 2000)}}, nil
	}
	return nil, nil
}

func valueOf(v any) (out map[string]any, err error) {
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

func asBeta(crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	internal, out := &apiextensions.CustomResourceDefinition{}, &v1beta1.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd.DeepCopy(), internal, nil); err != nil {
		return nil, err
	}
	if err := v1beta1.Convert_apiextensions_CustomResourceDefinition_To_v1beta1_CustomResourceDefinition(internal, out, nil); err != nil {
		return nil, err
	}
	out.TypeMeta = metav1.TypeMeta{Kind: "CustomResourceDefinition", APIVersion: v1beta1.SchemeGroupVersion.String()}
	return json.Marshal(out)
}

// betas returns forms of a CRD that a v1beta1 server could have stored.
func betas(crd *apiextensionsv1.CustomResourceDefinition) (forms [][]byte, err error) {
	whole, err := asBeta(crd)
	if err != nil {
		return nil, err
	}
	forms = append(forms, whole)
	for _, without := range [][]string{
		{"preserveUnknownFields", "conversion", "scope"},
		{"version"},
		{"validation"},
		{"additionalPrinterColumns", "subresources"},
	} {
		var form map[string]any
		if err := json.Unmarshal(whole, &form); err != nil {
			return nil, err
		}
		spec, _ := form["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		for _, name := range without {
			delete(spec, name)
		}
		delete(names, "singular")
		delete(names, "listKind")
		data, err := json.Marshal(form)
		if err != nil {
			return nil, err
		}
		forms = append(forms, data)
	}
	return forms, nil
}
