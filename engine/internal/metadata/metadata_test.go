package metadata

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/operation"
	upstream "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const linked = 37

var path = field.NewPath("metadata")

func TestLinked(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), For(linked)
	found := 0
	for seed := range uint64(3000) {
		r := &random{rand.New(rand.NewPCG(seed, 1))}
		meta, old, namespaced := r.meta(), r.meta(), r.IntN(2) == 0
		if r.IntN(2) == 0 {
			old = meta.DeepCopy()
			r.change(old)
		}
		want := upstream.ValidateObjectMetaDeclaratively(ctx, operation.Create, meta, nil, namespaced, upstream.NameIsDNSSubdomain, path, true)
		got := v.Distinct(v.Create(meta, namespaced, upstream.NameIsDNSSubdomain, path))
		if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
			t.Fatalf("create, seed %d: %s", seed, diff)
		}
		want = upstream.ValidateObjectMetaDeclaratively(ctx, operation.Update, meta, old, namespaced, nil, path, true)
		got = v.Distinct(v.Update(meta, old, path))
		if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
			t.Fatalf("update, seed %d: %s", seed, diff)
		}
		found += len(got)
		want = append(upstream.ValidateObjectMetaAccessor(meta, namespaced, upstream.NameIsDNSSubdomain, path), upstream.ValidateObjectMetaAccessorUpdate(meta, old, path)...)
		got = append(v.Create(meta, namespaced, upstream.NameIsDNSSubdomain, path), v.Update(meta, old, path)...)
		if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
			t.Fatalf("common, seed %d: %s", seed, diff)
		}
	}
	if found < 3000 {
		t.Errorf("only %d errors", found)
	}
}

func lines(errs field.ErrorList) (out []string) {
	for _, err := range errs {
		out = append(out, fmt.Sprintf("%s | %s | %s", err, err.Type, err.Origin))
	}
	slices.Sort(out)
	return out
}

type random struct{ *rand.Rand }

func (r *random) of(texts ...string) string { return texts[r.IntN(len(texts))] }

func (r *random) key() string {
	long := strings.Repeat("a", 64)
	return r.of("app", "a.b/c", "", "/", "/x", "x/", "A/b", "a/b/c", "a/b/", "//", "-x", "x-", "é", long, long+"/x", strings.Repeat("a.", 130)+"/"+long, "a_b/c", "UPPER", "kubernetes", "foregroundDeletion", "orphan")
}

func (r *random) meta() *metav1.ObjectMeta {
	m := &metav1.ObjectMeta{Name: "x"}
	for range r.IntN(4) {
		r.change(m)
	}
	return m
}

func (r *random) change(m *metav1.ObjectMeta) {
	at := metav1.NewTime(time.Unix(int64(r.IntN(3)), 0))
	seconds := int64(r.IntN(2))
	switch r.IntN(14) {
	case 0:
		m.Name = r.of("", "x", "X", "a.b", "-a", strings.Repeat("a", 254))
	case 1:
		m.GenerateName = r.of("", "x-", "X", "-", "a.")
	case 2:
		m.Namespace = r.of("", "x", "X", "a.b", strings.Repeat("a", 64))
	case 3:
		m.Generation = int64(r.IntN(3) - 1)
	case 4:
		m.Labels = map[string]string{r.key(): r.of("", "v", "-", "a/b", strings.Repeat("v", 64)), r.key(): ""}
	case 5:
		m.Annotations = map[string]string{r.key(): "v", r.key(): strings.Repeat("v", r.IntN(2)*300_000)}
	case 6:
		m.Finalizers = []string{r.key(), r.key(), r.of("foregroundDeletion", "orphan")}
	case 7, 8:
		for range r.IntN(3) {
			m.OwnerReferences = append(m.OwnerReferences, r.owner())
		}
	case 9:
		op := metav1.ManagedFieldsOperationType(r.of("", "Apply", "Update", "apply"))
		m.ManagedFields = append(m.ManagedFields, metav1.ManagedFieldsEntry{
			Operation: op, FieldsType: r.of("", "FieldsV1", "FieldsV2"), Manager: r.of("m", "a\nb", strings.Repeat("m", 129)),
			Subresource: strings.Repeat("s", r.IntN(300)),
		})
	case 10:
		m.UID = types.UID(r.of("", "a", "b"))
	case 11:
		m.CreationTimestamp = at
	case 12:
		m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &at, &seconds
	case 13:
		m.ResourceVersion = r.of("", "1")
	}
}

func (r *random) owner() metav1.OwnerReference {
	controller := r.IntN(2) == 0
	return metav1.OwnerReference{
		APIVersion: r.of("v1", "", "a/b", "a/b/c", "a/", "/", "/v1"), Kind: r.of("Event", "Pod", ""), Name: r.of("x", ""), UID: types.UID(r.of("1", "")),
		Controller: &controller,
	}
}
