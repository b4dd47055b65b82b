package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

type kinds struct {
	meta.RESTMapper
	catalog *builtin.Catalog
}

func (k *kinds) KindsFor(resource schema.GroupVersionResource) (list []schema.GroupVersionKind, err error) {
	for _, known := range k.catalog.Kinds() {
		if known.Resource == resource.Resource && known.Group == resource.Group && known.Version == resource.Version {
			list = append(list, known.GroupVersionKind)
		}
	}
	return list, nil
}

func (k *kinds) ResolveSchema(gvk schema.GroupVersionKind) (*spec.Schema, error) {
	props, err := k.catalog.Schema(gvk)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", resolver.ErrSchemaNotFound, err)
	}
	metadata, err := k.catalog.Metadata()
	if err != nil {
		return nil, err
	}
	if props.Properties == nil {
		props.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	props.Properties["metadata"] = *metadata
	data, err := json.Marshal(props)
	if err != nil {
		return nil, err
	}
	s := &spec.Schema{}
	return s, json.Unmarshal(data, s)
}

// typeName matches the name of a root type in the server's errors.
var typeName = regexp.MustCompile(`\b([A-Z][A-Za-z]+)\d{2,9}\b`)

// serverWarnings returns the warnings of the server as "path kind: error", sorted.
func serverWarnings(t *testing.T, checker *validating.TypeChecker, doc map[string]any) (list []string) {
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	p := &admissionv1.ValidatingAdmissionPolicy{}
	if err := json.Unmarshal(data, p); err != nil {
		t.Fatal(err)
	}
	for _, w := range checker.Check(p) {
		for _, one := range regexp.MustCompile(`\n(?:\n|$)`).Split(w.Warning, -1) {
			if one != "" {
				list = append(list, w.FieldRef+" "+typeName.ReplaceAllString(one, "$1"))
			}
		}
	}
	slices.Sort(list)
	return list
}

// ownWarnings returns the same for policyvet, and whether the policy is accepted. It leaves out warnings about other
// expressions than validations, which the server does not check.
func ownWarnings(t *testing.T, doc map[string]any) (list []string, accepted bool) {
	reports, err := policyvet.Vet(context.Background(), []map[string]any{doc}, policyvet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range reports[0].Warnings {
		if !strings.HasPrefix(w.Path, "spec.validations") {
			continue
		}
		names, text, _ := strings.Cut(w.Message, ": ")
		for _, kind := range strings.Split(names, "; ") {
			list = append(list, w.Path+" "+kind+": "+text)
		}
	}
	slices.Sort(list)
	return list, reports[0].Accepted
}

// TestTypeChecks compares type errors of the policies of CELADON_POLICIES, most of them with a mistake, with
// the server's type checker. Rejected policies and those with requestResource are left out.
func TestTypeChecks(t *testing.T) {
	dir := os.Getenv("CELADON_POLICIES")
	if dir == "" {
		t.Skip("CELADON_POLICIES is not set")
	}
	catalog, err := builtin.Newest()
	if err != nil {
		t.Fatal(err)
	}
	k := &kinds{catalog: catalog}
	checker := &validating.TypeChecker{SchemaResolver: k, RestMapper: k}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	policies, warnings := 0, 0
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// The server's checker takes seconds for a large schema, so each file is checked in one variant.
		variants := []string{string(data), strings.ReplaceAll(string(data), "object.spec.", "object.spek."), strings.ReplaceAll(string(data), "spec.containers", "spec.containerz"), strings.ReplaceAll(string(data), "== true", "== 'true'")}
		for _, doc := range readDocuments(t, []byte(variants[i%len(variants)])) {
			if doc["kind"] != "ValidatingAdmissionPolicy" || strings.Contains(fmt.Sprint(doc), "requestResource") {
				continue
			}
			got, accepted := ownWarnings(t, doc)
			if !accepted {
				continue
			}
			want := serverWarnings(t, checker, doc)
			policies++
			warnings += len(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s:\n%s", filepath.Base(file), diff)
			}
		}
	}
	t.Logf("%d policies with %d warnings", policies, warnings)
}
