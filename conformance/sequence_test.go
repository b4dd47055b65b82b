package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/rest"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/celadontest/fakeclient"
	"github.com/celadon-cel/celadon/engine/catalog"
)

var sequences = flag.Int("sequences", 300, "how many sequences of writes are tried on the fake client and the server")

func TestSequences(t *testing.T) {
	const file = "testdata/sequences.yaml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	crds, err := catalog.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t)
	for _, crd := range crds {
		r, err := s.Serve(t.Context(), crd)
		if err != nil {
			t.Fatal(err)
		}
		defer remove(t, r)
	}
	real, fake := newRealSide(t, s), newFakeSide(t, file, crds)
	writes, failed := 0, 0
	for i := range *sequences {
		seed := uint64(*firstScenario) + uint64(i)
		q := &sequence{seed: seed, crd: crds[seed%uint64(len(crds))], sides: [2]*side{real, fake}}
		diff := q.run(t.Context())
		writes += len(q.history)
		if diff == "" {
			continue
		}
		if failed++; failed <= 5 {
			t.Errorf("-seed %d -sequences 1, %s: the server (-) and the fake client (+):\n%s", q.seed, q.crd.Name, diff)
		}
	}
	t.Logf("%d sequences, %d writes, %d differ", *sequences, writes, failed)
}

type side struct {
	client dynamic.Interface

	mu       sync.Mutex
	warnings []string
}

func (s *side) HandleWarningHeader(_ int, _, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, text)
}

func newRealSide(t *testing.T, server *Server) *side {
	t.Helper()
	s := &side{}
	var err error
	s.client, err = dynamic.NewForConfigAndClient(&rest.Config{Host: server.host, QPS: -1, WarningHandler: s}, server.client)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newFakeSide(t *testing.T, file string, crds []*apiextensionsv1.CustomResourceDefinition) *side {
	t.Helper()
	s := &side{}
	lists := map[schema.GroupVersionResource]string{}
	for _, crd := range crds {
		for _, v := range crd.Spec.Versions {
			lists[schema.GroupVersionResource{Group: crd.Spec.Group, Version: v.Name, Resource: crd.Spec.Names.Plural}] = crd.Spec.Names.ListKind
		}
	}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
	// the server's default, for calls that do not set it
	fakeclient.Config{Warnings: s, FieldValidation: "Warn"}.React(t, celadontest.New(t, file), &client.Fake)
	s.client = client
	// resourceVersion 1 belongs to no object on a server
	first := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Raft", "metadata": map[string]any{"name": "first"}}}
	gvr := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "rafts"}
	if _, err := client.Resource(gvr).Create(t.Context(), first, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

type answer struct {
	Status    *metav1.Status
	Object    map[string]any
	Persisted map[string]any
	Warnings  []string
	Read      []string // warnings of the reads before and after
}

type sequence struct {
	seed    uint64
	crd     *apiextensionsv1.CustomResourceDefinition
	version string // version of the current write
	sides   [2]*side
	history []string
}

const maxWrites = 10

// run returns the first difference between the sides, or "".
func (q *sequence) run(ctx context.Context) string {
	var versions [2]versions
	choose := rand.New(rand.NewPCG(q.seed, 0))
	for range 2 + choose.IntN(maxWrites-1) {
		q.version = q.crd.Spec.Versions[choose.IntN(len(q.crd.Spec.Versions))].Name
		write, err := q.next(ctx, choose.Uint64())
		if err != nil {
			return err.Error()
		}
		q.history = append(q.history, q.version+": "+write.text)
		var got [2]answer
		for i, s := range q.sides {
			got[i] = q.ask(ctx, s, write, &versions[i])
		}
		if d := cmp.Diff(got[0], got[1], cmpopts.EquateEmpty()); d != "" {
			return strings.Join(q.history, "\n") + "\n" + d
		}
	}
	return ""
}

func (q *sequence) resource(s *side) dynamic.ResourceInterface {
	r := s.client.Resource(schema.GroupVersionResource{Group: q.crd.Spec.Group, Version: q.version, Resource: q.crd.Spec.Names.Plural})
	if q.crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		return r.Namespace("default")
	}
	return r
}

func (q *sequence) name() string { return fmt.Sprintf("o-%d", q.seed) }

func (q *sequence) ask(ctx context.Context, s *side, w *write, v *versions) (a answer) {
	live, err := q.resource(s).Get(ctx, q.name(), metav1.GetOptions{})
	a.Read, s.warnings = s.warnings, nil
	if err != nil && !apierrors.IsNotFound(err) {
		return answer{Status: &metav1.Status{Message: "get: " + err.Error()}}
	}
	obj, err := w.do(ctx, q.resource(s), live)
	if err != nil {
		a.Status = q.status(err, v)
	} else if obj != nil {
		a.Object = v.comparable(obj)
	}
	if !apierrors.IsNotFound(err) { // the server may still return warnings for a cached object
		a.Warnings = s.warnings
	}
	s.warnings = nil
	if after, err := q.resource(s).Get(ctx, q.name(), metav1.GetOptions{}); err == nil {
		a.Persisted = v.comparable(after)
	}
	a.Read, s.warnings = append(a.Read, s.warnings...), nil
	return a
}

// These expressions match parts of messages that differ between servers: UIDs, versions, and times.
var (
	uids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	inIt  = regexp.MustCompile(`in record \(\d+\)`)
	revs  = regexp.MustCompile(`(\\*"resourceVersion\\*":\\*")\d+`)
	// If a schema lacks several fields, or there are other errors, the server reports a random
	// selection.
	undeclared = regexp.MustCompile(`(?s)(?:errors:\n.*|\S+: )field not declared in schema.*$`)
)

func (q *sequence) status(err error, v *versions) *metav1.Status {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return &metav1.Status{Message: "no status: " + err.Error()}
	}
	out := status.Status()
	out.TypeMeta, out.ListMeta = metav1.TypeMeta{}, metav1.ListMeta{}
	out.Message = v.text(out.Message)
	if out.Details != nil {
		out.Details = out.Details.DeepCopy()
		if len(out.Details.Causes) > 1 { // the server joins causes in random order
			out.Message, _, _ = strings.Cut(out.Message, ": ")
		}
		for i := range out.Details.Causes {
			out.Details.Causes[i].Message = v.text(out.Details.Causes[i].Message)
		}
		slices.SortFunc(out.Details.Causes, func(a, b metav1.StatusCause) int {
			return strings.Compare(a.Field+a.Message, b.Field+b.Message)
		})
	}
	return &out
}

// versions numbers the resourceVersions of an object in order of appearance.
type versions struct{ seen []string }

func (v *versions) number(version string) string {
	i := slices.Index(v.seen, version)
	if i < 0 && version != "" {
		i, v.seen = len(v.seen), append(v.seen, version)
	}
	return fmt.Sprint(i)
}

func (v *versions) text(text string) string {
	text = strings.ReplaceAll(text, "Key: "+etcdPrefix+"/", "Key: /registry/")
	text = undeclared.ReplaceAllString(text, "UNDECLARED")
	if head, errs, found := strings.Cut(text, ": errors:\n"); found { // errors are in random order
		all := strings.Split(errs, "\n")
		slices.Sort(all)
		text = head + ": errors:\n" + strings.Join(all, "\n")
	}
	text = inIt.ReplaceAllString(text, "in record (VERSION)")
	return revs.ReplaceAllString(times.ReplaceAllString(uids.ReplaceAllString(text, "UID"), "TIME"), "${1}VERSION")
}

func (v *versions) comparable(u *unstructured.Unstructured) map[string]any {
	data, err := json.Marshal(u.Object)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	data = uids.ReplaceAll(times.ReplaceAll(data, []byte("TIME")), []byte("UID"))
	var obj map[string]any
	if err := json.Unmarshal(data, &obj); err != nil {
		return map[string]any{"error": err.Error()}
	}
	if metadata, ok := obj["metadata"].(map[string]any); ok {
		metadata["resourceVersion"] = v.number(u.GetResourceVersion())
		sortManaged(metadata["managedFields"])
	}
	return obj
}

// The order does not depend on times.
func sortManaged(v any) {
	entries, _ := v.([]any)
	slices.SortFunc(entries, func(a, b any) int {
		key := func(v any) string {
			e, _ := v.(map[string]any)
			return fmt.Sprint(e["manager"], e["operation"], e["subresource"], e["apiVersion"])
		}
		return strings.Compare(key(a), key(b))
	})
}

var patchTypes = []types.PatchType{types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType}
