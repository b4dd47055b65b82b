//go:build !(minor28 || minor29)

package main

import "k8s.io/apiextensions-apiserver/pkg/registry/customresource"

func newStrategies(r *Resource) (resource, status Strategy) {
	s := customresource.NewStrategy(r.Typer, r.NamespaceScoped, r.Kind, r.Validator, r.StatusValidator, r.Structural, r.Status, r.Scale, r.Version.SelectableFields)
	return s, customresource.NewStatusStrategy(s)
}
