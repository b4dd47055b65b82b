package main

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

type crdAnswer struct {
	Errors   []fieldError `json:"errors"`
	Warnings []string     `json:"warnings,omitempty"`
	Versions []*version   `json:"versions"`
}

type fieldError struct {
	Type    string          `json:"type"`
	Field   string          `json:"field"`
	Detail  string          `json:"detail"`
	Value   json.RawMessage `json:"value,omitempty"`
	Message string          `json:"message"`
}

func (s *service) crd(req *request) (*crdAnswer, error) {
	crd, err := decodeCRD(req.CRD)
	if err != nil {
		return nil, err
	}
	var old *apiextensions.CustomResourceDefinition
	switch {
	case req.OldCRD != nil:
		if old, err = decodeCRD(req.OldCRD); err != nil {
			return nil, err
		}
	case req.Stored:
		old = crd.DeepCopy()
	}
	a := validateCRD(crd, old)
	for i := range crd.Spec.Versions {
		v, err := s.versionOf(crd, crd.Spec.Versions[i].Name, envLoader(req.Stored))
		if err != nil {
			return nil, err
		}
		a.Versions = append(a.Versions, v)
	}
	return a, nil
}

func envLoader(stored bool) cel.EnvLoader {
	if stored {
		return cel.StoredExpressionsEnvLoader()
	}
	return cel.NewExpressionsEnvLoader()
}

func validateCRD(crd, old *apiextensions.CustomResourceDefinition) *crdAnswer {
	ctx, a := crdContext(old != nil), &crdAnswer{}
	strategy := customresourcedefinition.NewStrategy(scheme)
	if old == nil {
		strategy.PrepareForCreate(ctx, crd)
		if a.Errors = fieldErrors(strategy.Validate(ctx, crd)); len(a.Errors) == 0 {
			a.Warnings = strategy.WarningsOnCreate(ctx, crd)
		}
		return a
	}
	if old.ResourceVersion == "" {
		old.ResourceVersion = "1"
	}
	crd.ResourceVersion, crd.UID, crd.CreationTimestamp = old.ResourceVersion, old.UID, old.CreationTimestamp
	strategy.PrepareForUpdate(ctx, crd, old)
	if a.Errors = fieldErrors(strategy.ValidateUpdate(ctx, crd, old)); len(a.Errors) == 0 {
		a.Warnings = strategy.WarningsOnUpdate(ctx, crd, old)
	}
	return a
}

func crdContext(update bool) context.Context {
	verb := "create"
	if update {
		verb = "update"
	}
	gvr := schema.GroupVersionResource{Group: apiextensions.GroupName, Version: "v1", Resource: "customresourcedefinitions"}
	return genericapirequest.WithRequestInfo(genericapirequest.NewContext(), &genericapirequest.RequestInfo{
		IsResourceRequest: true, Verb: verb, APIGroup: gvr.Group, APIVersion: gvr.Version, Resource: gvr.Resource,
	})
}

func fieldErrors(list field.ErrorList) []fieldError {
	errs := []fieldError{}
	for _, e := range list {
		errs = append(errs, fieldError{string(e.Type), e.Field, e.Detail, jsonValue(e.BadValue), e.ErrorBody()})
	}
	return errs
}

func jsonValue(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(fmt.Sprint(v))
	}
	return data
}
