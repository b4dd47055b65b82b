package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/admission"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

type corpusCase struct {
	id              string
	CRD             string         `json:"crd"`
	Version         string         `json:"version"`
	Subresource     string         `json:"subresource"`
	FieldValidation string         `json:"fieldValidation"`
	OldObject       map[string]any `json:"oldObject"`
	Object          map[string]any `json:"object"`
	answer          *corpusAnswer
}

type corpusAnswer struct {
	File    string   `json:"file"`
	Index   int      `json:"index"`
	Verdict string   `json:"verdict"`
	Message string   `json:"message"`
	Causes  []causeT `json:"causes"`
}

type causeT struct{ Reason, Field, Message string }

func readCorpus(t testing.TB, dir, project string) map[string][]*corpusCase {
	t.Helper()
	answers := map[string]*corpusAnswer{}
	for _, file := range glob(t, filepath.Join(dir, "answers", project+".jsonl")) {
		for line := range strings.Lines(read(t, file)) {
			a := &corpusAnswer{}
			if err := json.Unmarshal([]byte(line), a); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			answers[fmt.Sprintf("%s#%d", a.File, a.Index)] = a
		}
	}
	out := map[string][]*corpusCase{}
	for _, file := range glob(t, filepath.Join(dir, "cases", project, "*.yaml")) {
		name, _ := filepath.Rel(dir, file)
		documents := yamlstream.NewYAMLReader(bufio.NewReader(strings.NewReader(read(t, file))))
		for index := 0; ; index++ {
			text, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			c := &corpusCase{id: fmt.Sprintf("%s#%d", filepath.ToSlash(name), index)}
			if err := errors.Join(err, yaml.Unmarshal(text, c)); err != nil {
				t.Fatalf("%s: %v", c.id, err)
			}
			if c.answer = answers[c.id]; c.answer != nil {
				out[c.CRD] = append(out[c.CRD], c)
			}
		}
	}
	return out
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// corpusCRD reads a CRD. It removes the conversion, because the responses of the conversion webhook
// are unknown.
func corpusCRD(t testing.TB, path string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := corpus.ReadCRD(t, path)
	crd.Spec.Conversion = nil
	return crd
}

// request returns the case as the API server sends it: as written to a mutating webhook, otherwise
// pruned, defaulted, and with the server's metadata.
func (c *corpusCase) request(set *admission.Set, crd *apiextensionsv1.CustomResourceDefinition, asWritten bool) *admissionv1.AdmissionRequest {
	gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: c.Version, Kind: crd.Spec.Names.Kind}
	req := &admissionv1.AdmissionRequest{
		UID: "corpus", Kind: metav1.GroupVersionKind(gvk), Operation: admissionv1.Create, SubResource: c.Subresource,
		Resource: metav1.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: crd.Spec.Names.Plural},
		Options:  runtime.RawExtension{Raw: fmt.Appendf(nil, `{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldValidation":%q}`, c.FieldValidation)},
	}
	obj, old := withoutServer(c.Object), withoutServer(c.OldObject)
	if old != nil {
		req.Operation = admissionv1.Update
	}
	if !asWritten {
		prepared, err := set.Engine(gvk).Prepare(engine.Request{Object: obj, OldObject: old, Subresource: c.Subresource})
		if err == nil {
			obj = withServer(prepared.Self)
		}
		if err == nil && old != nil {
			old = withServer(prepared.Old)
		}
	}
	meta, _ := obj["metadata"].(map[string]any)
	req.Name, _ = meta["name"].(string)
	req.Namespace, _ = meta["namespace"].(string)
	req.Object.Raw = marshal(obj)
	if old != nil {
		req.OldObject.Raw = marshal(old)
	}
	return req
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// withoutServer removes metadata that another server set when the object was recorded.
func withoutServer(obj map[string]any) map[string]any {
	if obj == nil {
		return nil
	}
	obj = decodeAgain(obj)
	if meta, ok := obj["metadata"].(map[string]any); ok {
		for _, key := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
			delete(meta, key)
		}
	}
	return obj
}

func decodeAgain(obj map[string]any) map[string]any {
	out, err := engine.Decode(marshal(obj))
	if err != nil {
		panic(err)
	}
	return out
}

// withServer adds metadata that only a server sets. A validating webhook receives it, except
// resourceVersion on a create.
func withServer(obj map[string]any) map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["uid"], meta["resourceVersion"], meta["generation"] = "0b7a", "7", int64(1)
	meta["creationTimestamp"] = "2026-01-02T03:04:05Z"
	meta["managedFields"] = []any{map[string]any{
		"manager": "kubectl", "operation": "Update", "apiVersion": obj["apiVersion"],
		"time": "2026-01-02T03:04:05Z", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{}},
	}}
	obj["metadata"] = meta
	return obj
}

var clock = regexp.MustCompile(`selfType\d+`)

func (a *corpusAnswer) differs(r *admissionv1.AdmissionResponse) string {
	if r.Allowed != (a.Verdict == "valid") {
		return fmt.Sprintf("allowed %t, want %s: %s", r.Allowed, a.Verdict, a.Message)
	}
	if r.Allowed {
		return ""
	}
	var got, want []string
	for _, c := range a.Causes {
		want = append(want, clock.ReplaceAllString(fmt.Sprint(c), "selfType"))
	}
	if r.Result.Details != nil {
		for _, c := range r.Result.Details.Causes {
			got = append(got, fmt.Sprint(causeT{string(c.Type), c.Field, c.Message}))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Sprintf("causes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return ""
}

func TestServeCorpus(t *testing.T) {
	sent := 0
	for _, dir := range corpus.Folders(t) {
		run := &corpusRun{T: t}
		run.serving, run.set = startSet(t)
		cases := readCorpus(t, dir, "*")
		for _, path := range slices.Sorted(maps.Keys(cases)) {
			crd := corpusCRD(t, filepath.Join(dir, path))
			if err := run.set.Put(crd); err != nil {
				t.Fatal(err)
			}
			for _, c := range cases[path] {
				run.validate(c, crd)
				run.mutate(c, crd)
			}
			run.set.Remove(crd.Name)
		}
		t.Logf("%s: %d requests, %d wrong answers; %d patches of defaults", filepath.Base(dir), run.sent, run.wrong, run.patches)
		sent += run.sent
	}
	if sent == 0 {
		t.Skip("CELADON_CORPUS names no folder with cases and answers")
	}
}

type corpusRun struct {
	*testing.T
	serving              *serving
	set                  *admission.Set
	sent, wrong, patches int
}

func (r *corpusRun) validate(c *corpusCase, crd *apiextensionsv1.CustomResourceDefinition) {
	for _, asWritten := range []bool{true, false} {
		r.sent++
		diff := c.answer.differs(r.serving.review("/validate", c.review(r.set, crd, asWritten)))
		if diff == "" {
			continue
		}
		if r.wrong++; r.wrong <= 20 {
			r.Errorf("%s (as written %t): %s", c.id, asWritten, diff)
		}
	}
}

func (r *corpusRun) mutate(c *corpusCase, crd *apiextensionsv1.CustomResourceDefinition) {
	if c.Subresource != "" {
		return
	}
	if res := r.serving.review("/mutate", c.review(r.set, crd, true)); len(res.Patch) > 0 {
		r.patches++
		c.checkPatch(r.T, r.set, crd, res.Patch)
	}
}

func (c *corpusCase) review(set *admission.Set, crd *apiextensionsv1.CustomResourceDefinition, asWritten bool) string {
	return string(marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request:  c.request(set, crd, asWritten),
	}))
}

func (c *corpusCase) checkPatch(t *testing.T, set *admission.Set, crd *apiextensionsv1.CustomResourceDefinition, text []byte) {
	t.Helper()
	e := set.Engine(schema.GroupVersionKind{Group: crd.Spec.Group, Version: c.Version, Kind: crd.Spec.Names.Kind})
	obj := withoutServer(c.Object)
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		t.Fatalf("%s: %v", c.id, err)
	}
	data, err := patch.Apply(marshal(obj))
	if err != nil {
		t.Fatalf("%s: %v\n%s", c.id, err, text)
	}
	patched, err := engine.Decode(data)
	if err != nil {
		t.Fatalf("%s: %v", c.id, err)
	}
	var prepared [2]map[string]any
	for i, o := range []map[string]any{obj, patched} {
		p, err := e.Prepare(engine.Request{Object: o})
		if err != nil {
			t.Fatalf("%s: %v", c.id, err)
		}
		prepared[i] = p.Self
	}
	if diff := cmp.Diff(prepared[0], prepared[1]); diff != "" {
		t.Errorf("%s: the patch changes more than defaults:\n%s", c.id, diff)
	}
	for _, crdVersion := range crd.Spec.Versions {
		if crdVersion.Name == c.Version && crdVersion.Subresources != nil && crdVersion.Subresources.Status != nil {
			delete(prepared[0], "status")
		}
	}
	if missing := lacks("", patched, prepared[0]); missing != "" {
		t.Errorf("%s: still no default at %s", c.id, missing)
	}
}

func lacks(at string, obj, defaulted any) string {
	switch defaulted := defaulted.(type) {
	case map[string]any:
		own, ok := obj.(map[string]any)
		if !ok {
			return at
		}
		for name, value := range defaulted {
			if at == "" && name == "metadata" {
				continue
			}
			if missing := lacks(at+"/"+name, own[name], value); missing != "" {
				return missing
			}
		}
	case []any:
		own, ok := obj.([]any)
		if !ok || len(own) != len(defaulted) {
			return at
		}
		for i, value := range defaulted {
			if missing := lacks(fmt.Sprintf("%s/%d", at, i), own[i], value); missing != "" {
				return missing
			}
		}
	default:
		if obj == nil && defaulted != nil {
			return at
		}
	}
	return ""
}
