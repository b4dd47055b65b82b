// Package docs implements celadon explain and celadon docs, which document CRDs for the authors of objects.
package docs

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/x/publish"
)

// Read returns all CRDs at and below the paths; see resource.All.
func Read(ctx context.Context, s command.Streams, paths []string) (crds []*apiextensionsv1.CustomResourceDefinition, broken bool, err error) {
	return resource.All(ctx, s, paths, func(doc *input.Document) (*apiextensionsv1.CustomResourceDefinition, error) {
		crd, err := resource.Decode(doc)
		if crd != nil {
			apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
		}
		return crd, err
	})
}

func bug(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &command.ExitError{Code: command.Bug, Err: fmt.Errorf("%s: %w", crd.Name, err)}
}

// costs omits broken rules. The error is ctx.Err() or an internal error.
func costs(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (map[engine.RuleRef]publish.Cost, error) {
	all := map[engine.RuleRef]publish.Cost{}
	r, err := vet.VetCRD(ctx, crd, vet.Config{Stored: true})
	if err != nil {
		return nil, err
	}
	for _, v := range r.Versions {
		for i := range v.Rules {
			r := &v.Rules[i]
			if !r.Broken {
				all[engine.RuleRef{Version: v.Name, Path: r.Path, Index: r.Index}] = publish.Cost{One: r.EstimatedCost, All: r.EstimatedTotal, Limit: r.Limit}
			}
		}
	}
	return all, nil
}
