package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

type file struct {
	Release string                 `json:"release"`
	Kinds   []*kind                `json:"kinds"`
	Schemas map[string]*definition `json:"schemas"`
}

type kind struct {
	Group        string         `json:"group,omitempty"`
	Version      string         `json:"version"`
	Kind         string         `json:"kind"`
	Schema       string         `json:"schema"`
	Resource     string         `json:"resource,omitempty"`
	Namespaced   bool           `json:"namespaced,omitempty"`
	Subresources []subresource  `json:"subresources,omitempty"`
	Defaults     map[string]any `json:"defaults,omitzero"`
}

type subresource struct {
	Name string `json:"name"`
	gvk
}

type gvk struct {
	Group   string `json:"group,omitempty"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

func (k *kind) gvk() gvk { return gvk{k.Group, k.Version, k.Kind} }

type definition struct {
	Ref           string                 `json:"ref,omitempty"`
	Type          string                 `json:"type,omitempty"`
	Format        string                 `json:"format,omitempty"`
	Properties    map[string]*definition `json:"properties,omitempty"`
	Required      []string               `json:"required,omitempty"`
	Items         *definition            `json:"items,omitempty"`
	Values        *definition            `json:"additionalProperties,omitempty"`
	Default       any                    `json:"default,omitempty"`
	ListType      string                 `json:"listType,omitempty"`
	ListKeys      []string               `json:"listMapKeys,omitempty"`
	MapType       string                 `json:"mapType,omitempty"`
	PatchKey      string                 `json:"patchMergeKey,omitempty"`
	PatchStrategy string                 `json:"patchStrategy,omitempty"`
	IntOrString   bool                   `json:"intOrString,omitempty"`
}

type document struct {
	Components struct {
		Schemas map[string]*openSchema `json:"schemas"`
	} `json:"components"`
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

// An openSchema is the part of an OpenAPI v3 schema that the catalog needs.
type openSchema struct {
	Ref           string                 `json:"$ref"`
	AllOf         []*openSchema          `json:"allOf"`
	OneOf         []*openSchema          `json:"oneOf"`
	Type          string                 `json:"type"`
	Format        string                 `json:"format"`
	Properties    map[string]*openSchema `json:"properties"`
	Required      []string               `json:"required"`
	Items         *openSchema            `json:"items"`
	Values        *openSchema            `json:"additionalProperties"`
	Default       any                    `json:"default"`
	ListType      string                 `json:"x-kubernetes-list-type"`
	ListKeys      []string               `json:"x-kubernetes-list-map-keys"`
	MapType       string                 `json:"x-kubernetes-map-type"`
	PatchKey      string                 `json:"x-kubernetes-patch-merge-key"`
	PatchStrategy string                 `json:"x-kubernetes-patch-strategy"`
	Kinds         []gvk                  `json:"x-kubernetes-group-version-kind"`
}

const refPrefix = "#/components/schemas/"

func readDocuments() (*file, error) {
	dir, release, err := kubernetes()
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "api", "openapi-spec", "v3", "api*__*_openapi.json"))
	if err != nil || len(names) == 0 {
		return nil, errors.Join(err, fmt.Errorf("%s: no OpenAPI documents", dir))
	}
	r := &reader{file: &file{Release: release, Schemas: map[string]*definition{}}, kinds: map[gvk]*kind{}}
	for _, name := range names {
		if err := r.read(name); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
	}
	slices.SortFunc(r.file.Kinds, func(a, b *kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	for _, k := range r.file.Kinds {
		slices.SortFunc(k.Subresources, func(a, b subresource) int { return cmp.Compare(a.Name, b.Name) })
	}
	return r.file, nil
}

func kubernetes() (dir, release string, err error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}\n{{.Version}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return "", "", fmt.Errorf("go list -m k8s.io/kubernetes: %w", err)
	}
	dir, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if dir == "" {
		return "", "", errors.New("module k8s.io/kubernetes is not downloaded: run go mod download k8s.io/kubernetes")
	}
	return dir, strings.TrimPrefix(version, "v"), nil
}

type reader struct {
	file  *file
	kinds map[gvk]*kind
}

func (r *reader) read(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	for name, s := range doc.Components.Schemas {
		if r.file.Schemas[name] != nil {
			continue
		}
		if r.file.Schemas[name], err = convert(s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if id, ok := s.kind(); ok {
			k := &kind{Group: id.Group, Version: id.Version, Kind: id.Kind, Schema: name}
			r.kinds[id] = k
			r.file.Kinds = append(r.file.Kinds, k)
		}
	}
	return r.readPaths(doc.Paths)
}

// kind returns the kind that s describes. DeleteOptions and WatchEvent belong to all groups; they are
// v1 here.
func (s *openSchema) kind() (gvk, bool) {
	switch v1 := func(k gvk) bool { return k.Group == "" && k.Version == "v1" }; {
	case len(s.Kinds) == 0:
		return gvk{}, false
	case len(s.Kinds) == 1:
		return s.Kinds[0], true
	default:
		i := slices.IndexFunc(s.Kinds, v1)
		return s.Kinds[max(i, 0)], true
	}
}

// convert returns the schema in the form of the file. It drops a default that is the zero value of its type,
// because it only states that a field is not a pointer.
func convert(s *openSchema) (*definition, error) {
	if len(s.AllOf) == 1 && s.AllOf[0].Ref != "" {
		return &definition{Ref: strings.TrimPrefix(s.AllOf[0].Ref, refPrefix), Default: nonZero(s.Default)}, nil
	}
	if s.Ref != "" {
		return &definition{Ref: strings.TrimPrefix(s.Ref, refPrefix)}, nil
	}
	if len(s.AllOf) > 0 {
		return nil, errors.New("allOf with something else than a reference")
	}
	d := &definition{
		Type: s.Type, Format: s.Format, Required: s.Required, Default: nonZero(s.Default), ListType: s.ListType, ListKeys: s.ListKeys,
		MapType: s.MapType, PatchKey: s.PatchKey, PatchStrategy: s.PatchStrategy,
	}
	if len(s.OneOf) > 0 {
		d.IntOrString, d.Type, d.Format = true, "", ""
	}
	var err error
	if s.Items != nil {
		if d.Items, err = convert(s.Items); err != nil {
			return nil, err
		}
		d.Items.Default = nil
	}
	if s.Values != nil {
		if d.Values, err = convert(s.Values); err != nil {
			return nil, err
		}
		d.Values.Default = nil
	}
	for name, property := range s.Properties {
		if d.Properties == nil {
			d.Properties = map[string]*definition{}
		}
		if d.Properties[name], err = convert(property); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return d, nil
}

func nonZero(v any) any {
	switch v := v.(type) {
	case string:
		if v == "" {
			return nil
		}
	case float64:
		if v == 0 {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	case map[string]any:
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

func (r *reader) readPaths(paths map[string]map[string]json.RawMessage) error {
	resources := map[string]*kind{}
	for path, operations := range paths {
		segments, namespaced := segmentsOf(path)
		if len(segments) != 1 && len(segments) != 2 {
			continue
		}
		id, err := kindOf(operations)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		k := r.kinds[id]
		if k == nil {
			return fmt.Errorf("%s: no schema of %v", path, id)
		}
		resources[segments[0]] = k
		k.Resource, k.Namespaced = segments[0], k.Namespaced || namespaced
	}
	for path, operations := range paths {
		segments, _ := segmentsOf(path)
		if len(segments) != 3 {
			continue
		}
		id, err := kindOf(operations)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		k := resources[segments[0]]
		k.Subresources = append(k.Subresources, subresource{Name: segments[2], gvk: id})
	}
	return nil
}

// segmentsOf returns the segments of a path that follow the group, version, and namespace, or nil for
// a path that no resource has.
func segmentsOf(path string) (segments []string, namespaced bool) {
	segments = strings.Split(strings.Trim(path, "/"), "/")
	prefix := 3 // apis, group, version
	if segments[0] == "api" {
		prefix = 2
	}
	if segments = segments[min(prefix, len(segments)):]; len(segments) == 0 || segments[0] == "watch" {
		return nil, false
	}
	if len(segments) > 2 && segments[0] == "namespaces" && segments[1] == "{namespace}" {
		return segments[2:], true
	}
	return segments, false
}

func kindOf(operations map[string]json.RawMessage) (gvk, error) {
	for _, method := range []string{"put", "post", "get"} {
		if operations[method] == nil {
			continue
		}
		var o struct {
			Kind gvk `json:"x-kubernetes-group-version-kind"`
		}
		err := json.Unmarshal(operations[method], &o)
		return o.Kind, err
	}
	return gvk{}, nil
}
