package vet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func upstream(t testing.TB, crd, old *apiextensionsv1.CustomResourceDefinition) (errs field.ErrorList) {
	t.Helper()
	defer func() {
		if recover() != nil {
			errs = field.ErrorList{field.InternalError(nil, errPanics)}
		}
	}()
	now, err := internal(crd)
	if err != nil {
		t.Fatal(err)
	}
	if old == nil {
		prepareCreate(now)
		return validation.ValidateCustomResourceDefinition(context.Background(), now)
	}
	before, err := internal(old)
	if err != nil {
		t.Fatal(err)
	}
	prepareOld(before)
	prepareUpdate(now, before)
	return rest.ValidateUpdate(context.Background(), now, before, updateStrategy{})
}

// updateStrategy is the part of the API server's strategy for CRDs that validates updates.
type updateStrategy struct{ rest.RESTUpdateStrategy }

func (updateStrategy) NamespaceScoped() bool { return false }

func (updateStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateCustomResourceDefinitionUpdate(ctx, obj.(*apiextensions.CustomResourceDefinition), old.(*apiextensions.CustomResourceDefinition))
}

func ours(t testing.TB, crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	t.Helper()
	a, failure, err := admit(context.Background(), crd, Config{Old: old})
	if errors.Is(err, errPanics) {
		return field.ErrorList{field.InternalError(nil, errPanics)}
	}
	if err != nil || failure != nil {
		t.Fatalf("admit: %v %v", err, failure)
	}
	return a.errs
}

var selfTypeNumber = regexp.MustCompile(`selfType\d+`)

// said omits parts of errors that change from run to run.
func said(errs field.ErrorList) []string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = selfTypeNumber.ReplaceAllString(fmt.Sprintf("%s %s", err.Type, err), "selfType")
	}
	slices.Sort(texts)
	return texts
}

func diff(ours, upstream []string) string {
	if slices.Equal(ours, upstream) {
		return ""
	}
	var b strings.Builder
	for _, s := range missing(ours, upstream) {
		fmt.Fprintf(&b, "\n  server alone: %.600s", s)
	}
	for _, s := range missing(upstream, ours) {
		fmt.Fprintf(&b, "\n  ours alone:   %.600s", s)
	}
	return b.String()
}

func missing(a, b []string) []string {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	var out []string
	for _, s := range b {
		if count[s]--; count[s] < 0 {
			out = append(out, s)
		}
	}
	return out
}

// Upstream's validation takes nearly all of the tests' time, so sample returns every fourth file, except with
// CELADON_LEVEL=long.
func sample(files []string) (some []string) {
	for i, path := range files {
		if i%4 == 1 || full() {
			some = append(some, path)
		}
	}
	return some
}

func full() bool { return level.Long() }

func countRules(crd *apiextensionsv1.CustomResourceDefinition) int {
	n := 0
	brokencrd.EachSchema(crd, func(s *apiextensionsv1.JSONSchemaProps) { n += len(s.XValidations) })
	return n
}

const contributed = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"

// If several rules are equally expensive, the server reports a random one, so these errors are only counted.
func compare(ours, upstream field.ErrorList) string {
	return diff(said(anonymous(ours)), said(anonymous(upstream)))
}

func anonymous(errs field.ErrorList) field.ErrorList {
	out := slices.Clone(errs)
	for i, err := range out {
		if err.Detail == contributed {
			out[i] = field.Forbidden(nil, contributed)
		}
	}
	return out
}

// smaller returns at most six files of a folder.
func smaller(t testing.TB, files []string, n int) []string {
	t.Helper()
	perFolder := map[string]int{}
	var picked []string
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(bytesOf(t, a), bytesOf(t, b)) })
	for _, path := range files {
		if dir := filepath.Dir(path); perFolder[dir] < 6 && len(picked) < n {
			perFolder[dir]++
			picked = append(picked, path)
		}
	}
	return picked
}
