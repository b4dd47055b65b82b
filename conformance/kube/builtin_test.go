package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/test/integration/etcd"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

// offPlugins are the admission plugins that the API server has by default, which builtinPlane turns
// off.
const offPlugins = "NamespaceLifecycle,LimitRanger,ServiceAccount,DefaultStorageClass,PersistentVolumeClaimResize," +
	"DefaultTolerationSeconds,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ResourceQuota," +
	"StorageObjectInUseProtection,PodGroupProtection,Priority,TaintNodesByCondition,RuntimeClass,CertificateApproval," +
	"CertificateSigning,ClusterTrustBundleAttest,CertificateSubjectRestriction,DefaultIngressClass,PodSecurity," +
	"PodTopologyLabels,MutatingAdmissionPolicy,ValidatingAdmissionPolicy,NodeDeclaredFeatureValidator,PodResizeValidator"

func builtinPlane(t *testing.T) *plane {
	return start(t, "--disable-admission-plugins="+offPlugins, "--runtime-config=api/all=true",
		"--service-cluster-ip-range=10.96.0.0/12,fd00:10:96::/112")
}

type builtinStage struct {
	*plane
	t       *testing.T
	cluster *builtin.Cluster   // nil without admission plugins
	counts  map[string]*[2]int // accepted and rejected by kind
	total   int
	failed  int
	exists  int
}

const maxReported = 400

func (s *builtinStage) compare(w *builtinWrite) {
	s.t.Helper()
	w.cluster = s.cluster
	want := w.onServer(s.t, s.plane)
	if want.Reason == "AlreadyExists" {
		s.exists++
		return
	}
	got, err := w.decided(s.t)
	kind := w.kind.Name + "." + w.kind.Version + "." + w.kind.Group
	if s.counts[kind] == nil {
		s.counts[kind] = &[2]int{}
	}
	verdict := 1
	if want.Allowed {
		verdict = 0
	}
	s.counts[kind][verdict]++
	s.total++
	diff := cmp.Diff(want, got)
	if err != nil {
		diff = err.Error()
	}
	if diff == "" || isKnownDifference(w, want, got) {
		return
	}
	if s.failed++; s.failed <= maxReported {
		s.t.Errorf("%v (-server +builtin):\n%s\n%.600s", w, diff, w.raw)
	}
}

// isKnownDifference reports whether conformance/differences.md lists a difference.
func isKnownDifference(w *builtinWrite, want, got decision) bool {
	switch {
	case strings.Contains(w.title, "resourceVersion"), w.title == "a resource version":
		return want.Code == http.StatusConflict || want.Code == http.StatusInternalServerError
	case w.isService() && slices.ContainsFunc(want.Causes, isOfCluster):
		return true
	case w.assumed:
		return strings.Contains(want.Message, " not found") || strings.Contains(want.Message, "no PriorityClass with name")
	case w.cluster != nil && w.kind.Kind == "PriorityClass":
		return strings.Contains(want.Message, "Only one default can exist")
	}
	// The rules of a few fields follow the order of Go maps.
	want.Message, got.Message = inOrder(want.Message), inOrder(got.Message)
	return cmp.Equal(want, got)
}

// isOfCluster reports whether a cause depends on the addresses and ports of a cluster.
func isOfCluster(cause string) bool {
	return strings.Contains(cause, "failed to allocate IP") || strings.Contains(cause, "provided port is already allocated")
}

func inOrder(message string) string {
	head, list, _ := strings.Cut(message, " is invalid: ")
	errs := strings.Split(strings.Trim(list, "[]"), ", ")
	slices.Sort(errs)
	return head + strings.Join(errs, ", ")
}

func TestBuiltin(t *testing.T) {
	s := &builtinStage{plane: builtinPlane(t), t: t, counts: map[string]*[2]int{}}
	listings := builtin.Resources()
	kinds := map[schema.GroupVersionKind]*builtin.Resource{}
	for _, kind := range listings {
		kinds[kind.GroupVersionKind] = kind
	}
	for i, w := range builtinExamples(t, kinds) {
		if level.Long() || i%8 == 0 {
			s.compare(w)
		}
	}
	data := etcd.GetEtcdStorageDataForNamespace(builtinNamespace)
	for i, kind := range listings {
		for _, seed := range seeds(t, kind, data) {
			s.creates(seed, i)
			s.writes(seed, i)
		}
	}
	s.report()
}

func (s *builtinStage) report() {
	s.t.Helper()
	for _, kind := range slices.Sorted(maps.Keys(s.counts)) {
		n := s.counts[kind]
		s.t.Logf("%-70s %5d accepted %5d rejected", kind, n[0], n[1])
		if level.Long() && (n[0] < 10 || n[1] < 20) {
			s.t.Errorf("%s: want at least 10 accepted and 20 rejected writes", kind)
		}
	}
	s.t.Logf("%d comparisons, %d differences, %d of objects that exist", s.total, s.failed, s.exists)
}

// effort returns long at the long level, and a twentieth of it otherwise.
func effort(long int) int {
	if level.Long() {
		return long
	}
	return (long + 19) / 20
}

func (s *builtinStage) creates(seed seed, offset int) {
	s.t.Helper()
	spec := outside("apiVersion", "kind", "metadata", "status")
	all := few(generic(seed.object), effort(60), offset)
	all = append(all, few(edited(seed.object, spec), effort(60), offset)...)
	all = append(all, few(grafted(seed.object, seed.full, outside("apiVersion", "kind", "metadata")), effort(60), offset)...)
	all = append(all, newMutant("the seed", seed.object))
	for _, m := range all {
		s.compare(&builtinWrite{kind: seed.kind, title: m.title, raw: m.raw, namespace: builtinNamespace})
	}
}

func (s *builtinStage) writes(seed seed, offset int) {
	s.t.Helper()
	path := builtinPath(seed.kind, builtinNamespace)
	code, text, _ := s.exchange(s.t, http.MethodPost, path, []byte(encodedAny(seed.object)))
	if code != http.StatusCreated {
		s.t.Errorf("%s: %d %s", path, code, text)
		return
	}
	stored, err := engine.Decode(text)
	if err != nil {
		s.t.Fatal(err)
	}
	name := str(stored, "metadata", "name")
	defer s.remove(path + "/" + name)
	s.awaitEstablished(seed.kind, path+"/"+name)
	s.compareRow(seed.kind, path+"/"+name)
	base := builtinWrite{kind: seed.kind, old: stored, namespace: builtinNamespace, name: name}
	send := func(subresource string, mutants []mutant) {
		for _, m := range mutants {
			w := base
			w.subresource, w.title, w.raw = subresource, m.title, bytes.Clone(m.raw)
			s.compareUpdate(&w, path+"/"+name)
		}
	}
	send("", few(generic(stored), effort(25), offset))
	send("", few(edited(stored, outside("apiVersion", "kind", "metadata", "status")), effort(40), offset))
	send("", few(grafted(stored, seed.full, outside("apiVersion", "kind", "metadata")), effort(40), offset))
	for _, subresource := range seed.kind.Subresources() {
		send(subresource, s.ofSubresource(seed, stored, subresource, path+"/"+name, offset))
	}
	w := base
	w.title = "without options"
	s.compare(&w)
	if slices.Contains(seed.kind.Subresources(), "status") {
		w.subresource = "status"
		s.compare(&w)
	}
}

// moving lists the columns that change with time or by a controller.
var moving = []string{"Age", "Established", "Last Seen", "MissingPL"}

func (s *builtinStage) compareRow(kind *builtin.Resource, path string) {
	s.t.Helper()
	_, text, _ := s.exchange(s.t, http.MethodGet, path, nil)
	object, err := engine.Decode(text)
	if err != nil {
		s.t.Fatal(err)
	}
	_, text, _ = s.exchange(s.t, http.MethodGet, path+asTable, nil)
	var want metav1.Table
	if err := json.Unmarshal(text, &want); err != nil || len(want.Rows) != 1 {
		s.t.Fatalf("%s: %v %s", path, err, text)
	}
	columns, cells, err := builtin.Row(s.t.Context(), object)
	if err != nil {
		s.t.Errorf("%s: %v", path, err)
		return
	}
	for i, c := range want.ColumnDefinitions[1:] {
		if i >= len(columns) || columns[i] != c.Name {
			s.t.Fatalf("%s: column %s: got %q", path, c.Name, columns)
		}
		if own := cells[min(i, len(cells)):]; slices.Contains(moving, c.Name) || len(own) == 0 && i+1 >= len(want.Rows[0].Cells) {
			continue
		} else if server := want.Rows[0].Cells[i+1]; len(own) == 0 || fmt.Sprint(server) != fmt.Sprint(own[0]) {
			s.t.Errorf("%s: column %s: server %q, row %q", path, c.Name, server, own)
		}
	}
}

// compareUpdate compares an update of the current object at a path, because a controller may have changed it.
func (s *builtinStage) compareUpdate(w *builtinWrite, path string) {
	s.t.Helper()
	code, text, _ := s.exchange(s.t, http.MethodGet, path, nil)
	now, err := engine.Decode(text)
	if code != http.StatusOK || err != nil {
		s.t.Fatalf("%s: %d %v %s", path, code, err, text)
	}
	version := func(o map[string]any) string { return fmt.Sprintf("%q", str(o, "metadata", "resourceVersion")) }
	if len(w.raw) > 0 {
		w.raw = bytes.ReplaceAll(w.raw, []byte(version(w.old)), []byte(version(now)))
	}
	w.old = now
	s.compare(w)
}

// awaitEstablished waits until the server's controllers have written the status of a new CRD, because updates that
// overlap with theirs are conflicts.
func (s *builtinStage) awaitEstablished(kind *builtin.Resource, path string) {
	s.t.Helper()
	for kind.Kind == "CustomResourceDefinition" {
		if _, text, _ := s.exchange(s.t, http.MethodGet, path, nil); bytes.Contains(text, []byte(`"type":"Established","status":"True"`)) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *builtinStage) remove(path string) {
	s.t.Helper()
	code, text, _ := s.exchange(s.t, http.MethodDelete, path+"?gracePeriodSeconds=0", nil)
	if code >= 300 {
		s.t.Errorf("delete %s: %d %s", path, code, text)
	}
	if got := s.do(http.MethodGet, path, ""); got.Code == http.StatusOK {
		s.do(http.MethodPatch, path, `{"metadata":{"finalizers":null}}`)
		s.exchange(s.t, http.MethodDelete, path+"?gracePeriodSeconds=0", nil)
	}
}

func (s *builtinStage) ofSubresource(seed seed, stored map[string]any, subresource, path string, offset int) []mutant {
	s.t.Helper()
	switch subresource {
	case "scale":
		scale, err := engine.Decode([]byte(encodedAny(s.do(http.MethodGet, path+"/scale", "").Body)))
		if err != nil {
			s.t.Fatal(err)
		}
		return few(append(generic(scale), edited(scale, outside("apiVersion", "kind"))...), effort(80), offset)
	case "eviction", "binding":
		text := fmt.Sprintf(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q}}`, str(stored, "metadata", "name"))
		if subresource == "binding" {
			text = strings.NewReplacer("policy/v1", "v1", "Eviction", "Binding").Replace(text[:len(text)-1]) + `,"target":{"kind":"Node","name":"n"}}`
		}
		object, err := engine.Decode([]byte(text))
		if err != nil {
			s.t.Fatal(err)
		}
		return few(append(generic(object), edited(object, outside("apiVersion", "kind"))...), effort(80), offset)
	case "status", "approval":
		object := stored
		if seed.status != nil {
			object, _ = with(stored, route{"status"}, seed.status).(map[string]any)
		}
		all := few(grafted(stored, seed.full, below("status")), effort(40), offset)
		all = append(all, few(edited(object, below("status")), effort(20), offset)...)
		all = append(all, few(generic(object), effort(15), offset)...)
		return append(all, newMutant("unchanged", stored), newMutant("a valid status", object))
	}
	all := few(generic(stored), effort(20), offset)
	all = append(all, few(edited(stored, below("spec")), effort(40), offset)...)
	return append(all, few(grafted(stored, seed.full, below("spec")), effort(40), offset)...)
}
