//go:build minor28

package main

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
)

func newStrategies(r *Resource) (resource, status Strategy) {
	structural := map[string]*structuralschema.Structural{r.Kind.Version: r.Structural}
	s := customresource.NewStrategy(r.Typer, r.NamespaceScoped, r.Kind, r.Validator, r.StatusValidator, structural, r.Status, r.Scale)
	return s, customresource.NewStatusStrategy(s)
}
