package conversion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

func TestBatched(t *testing.T) {
	t.Parallel()
	const n = 100
	for _, tt := range []struct {
		name    string
		fail    func(names []string) error
		reviews int // at most
		failed  func(i int) bool
	}{
		{"all convert", func([]string) error { return nil }, n / 2, func(int) bool { return false }},
		{"one fails", func(names []string) error {
			if strings.Contains(strings.Join(names, " "), "n42.") {
				return errors.New("n42 fails")
			}
			return nil
		}, n, func(i int) bool { return i == 42 }},
		{"only single objects", func(names []string) error {
			if len(names) > 1 {
				return errors.New("too many")
			}
			return nil
		}, 3 * n, func(int) bool { return false }},
		{"none in time", func([]string) error { return &conversion.Error{Failure: conversion.TooSlow, Text: "late"} }, 2 * n, func(int) bool { return true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reviews := 0
			allWait := make(chan struct{})
			c := conversion.Batched(func(_ context.Context, body []byte) ([]byte, error) {
				<-allWait
				reviews++
				var review apiextensionsv1.ConversionReview
				if err := json.Unmarshal(body, &review); err != nil {
					return nil, err
				}
				answer := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
				var names []string
				for _, o := range review.Request.Objects {
					text := strings.ReplaceAll(string(o.Raw), "example.com/v1", "example.com/v2")
					answer.ConvertedObjects = append(answer.ConvertedObjects, runtime.RawExtension{Raw: []byte(text)})
					names = append(names, text)
				}
				if err := tt.fail(names); err != nil {
					return nil, err
				}
				review.Response = answer
				return json.Marshal(review)
			})
			var all, started sync.WaitGroup
			started.Add(n)
			for i := range n {
				all.Go(func() {
					started.Done()
					name := fmt.Sprintf("n%d.", i)
					out, err := c.Convert(t.Context(), engine.Conversion{
						Object:     map[string]any{"apiVersion": "example.com/v1", "kind": "A", "metadata": map[string]any{"name": name}},
						APIVersion: "example.com/v2", ReviewVersions: []string{"v1"},
					})
					if (err != nil) != tt.failed(i) {
						t.Errorf("%s: %v", name, err)
					}
					if err == nil && out["metadata"].(map[string]any)["name"] != name {
						t.Errorf("%s: got %v", name, out)
					}
				})
			}
			started.Wait()
			close(allWait)
			all.Wait()
			if reviews > tt.reviews {
				t.Errorf("%d reviews, want at most %d", reviews, tt.reviews)
			}
		})
	}
}
