package celadontest_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/x/roundtrip"
)

// relabelled only sets apiVersion, so it loses the fields of examples/conversion that have
// different names in the other version.
func relabelled(_ context.Context, obj map[string]any, apiVersion string) (map[string]any, error) {
	obj["apiVersion"] = apiVersion
	return obj, nil
}

func TestConverts(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, "../examples/conversion/crd.yaml")
	kind := schema.GroupKind{Group: "stable.example.com", Kind: "CronTab"}
	said := func(kind schema.GroupKind, convert func(context.Context, map[string]any, string) (map[string]any, error), cfg roundtrip.Config) string {
		return failures(t, func(t testing.TB) { crds.Converts(t, kind, convert, cfg) })
	}
	all := said(kind, relabelled, roundtrip.Config{Objects: 100})
	for _, want := range []string{
		"celadontest: dropped, v1beta1 to v1: spec.hostPort is lost via v1 (was ", "(seed 0, ",
		"celadontest: dropped, v1 to v1beta1: spec.port is lost via v1beta1 (was ", "apiVersion: stable.example.com/v1\nkind: CronTab\n",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("want %q in:\n%s", want, all)
		}
	}
	crds.Converts(t, kind, relabelled, roundtrip.Config{Objects: 100, Ignore: []string{"spec.hostPort", "spec.host", "spec.port"}})
	panics := func(context.Context, map[string]any, string) (map[string]any, error) { panic("oh") }
	all = said(schema.GroupKind{Kind: "Nothing"}, relabelled, roundtrip.Config{}) +
		said(kind, relabelled, roundtrip.Config{Ignore: []string{"["}}) +
		said(kind, panics, roundtrip.Config{Objects: 10})
	for _, want := range []string{"no CRD for Nothing", `path "[": at "[": unclosed bracket`, "panicked, v1beta1 to v1: conversion webhook for"} {
		if !strings.Contains(all, want) {
			t.Errorf("want %q in:\n%s", want, all)
		}
	}
}
