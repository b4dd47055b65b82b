package metadata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	upstream "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The messages are in k8s.io/apimachinery/pkg/api/validation/objectmeta.go of each release.
func TestOwnerReferences(t *testing.T) {
	t.Parallel()
	refs := []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "Pod", Name: "x", UID: "1"},
		{},
		{APIVersion: "a/b/c", Kind: "Pod", Name: "x", UID: "1"},
		{APIVersion: "v1", Kind: "Event", Name: "x", UID: "1"},
	}
	const event = "/v1, Kind=Event is disallowed from being an owner"
	loose := func(kind, name, uid string) []string {
		return []string{
			"metadata.ownerReferences.apiVersion|Invalid value||version must not be empty",
			"metadata.ownerReferences.kind|Invalid value||" + kind,
			"metadata.ownerReferences.name|Invalid value||" + name,
			"metadata.ownerReferences.uid|Invalid value||" + uid,
			"metadata.ownerReferences.apiVersion|Invalid value|a/b/c|version must not be empty",
			"metadata.ownerReferences|Invalid value|{v1 Event x 1 <nil> <nil>}|" + event,
		}
	}
	named := loose("kind must not be empty", "name must not be empty", "uid must not be empty")
	plain := loose("must not be empty", "must not be empty", "must not be empty")
	strict := []string{
		"metadata.ownerReferences[1].apiVersion|Required value||must not be empty",
		"metadata.ownerReferences[1].kind|Required value||must not be empty",
		"metadata.ownerReferences[1].name|Required value||must not be empty",
		"metadata.ownerReferences[1].uid|Required value||must not be empty",
		"metadata.ownerReferences[2].apiVersion|Invalid value|a/b/c|must be <group>/<version> or <version>",
		"metadata.ownerReferences[3]|Invalid value|{v1 Event x 1 <nil> <nil>}|" + event,
	}
	for minor, want := range map[int][]string{28: named, 33: named, 34: plain, 36: plain, 37: strict} {
		meta := &metav1.ObjectMeta{Name: "x", OwnerReferences: refs}
		for _, errs := range []field.ErrorList{
			For(minor).Create(meta, false, upstream.NameIsDNSSubdomain, path),
			For(minor).Update(&metav1.ObjectMeta{ResourceVersion: "1", OwnerReferences: refs}, &metav1.ObjectMeta{}, path),
		} {
			var got []string
			for _, err := range errs {
				got = append(got, fmt.Sprintf("%s|%s|%v|%s", err.Field, err.Type, err.BadValue, err.Detail))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("1.%d: %s", minor, diff)
			}
		}
	}
}

// The messages are from k8s.io/apimachinery/pkg/util/validation/validation.go and field/errors.go in each release.
func TestWords(t *testing.T) {
	t.Parallel()
	const form = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	const suffix = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
	old := []string{
		"a qualified name " + form + suffix,
		"name part must be no more than 63 characters",
		"prefix part must be no more than 253 characters",
		"must be no more than 63 characters",
	}
	recent := []string{
		"a valid label key " + form + suffix,
		"name part must be no more than 63 bytes",
		"prefix part must be no more than 253 bytes",
		"must be no more than 63 bytes",
	}
	for minor := 28; minor <= linked; minor++ {
		v := For(minor)
		got := append(v.QualifiedName("a/b/c"), v.QualifiedName(strings.Repeat("a", 64))...)
		got = append(got, v.QualifiedName(strings.Repeat("a", 254)+"/x")...)
		got = append(got, v.labelValue(strings.Repeat("a", 64))...)
		want := recent
		if minor < 35 {
			want = old
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("1.%d: %s", minor, diff)
		}
		want = []string{"may not be more than 262144 bytes", "must have at most 262144 bytes"}[:1]
		if minor < 32 {
			want = []string{"must have at most 262144 bytes"}
		}
		errs := v.annotations(map[string]string{"a": strings.Repeat("x", 300_000)}, path)
		if len(errs) != 1 || errs[0].Detail != want[0] {
			t.Errorf("1.%d: got %v, want %s", minor, errs, want)
		}
	}
}

func TestManagedFields(t *testing.T) {
	t.Parallel()
	meta := &metav1.ObjectMeta{ResourceVersion: "1", Generation: -1, ManagedFields: []metav1.ManagedFieldsEntry{{Operation: "x"}, {}}}
	for minor, want := range map[int][]string{
		36: {
			"metadata.generation: Invalid value: -1: must not be decremented",
			"metadata.managedFields[0].operation: Invalid value: \"x\": must be `Apply` or `Update`",
			"metadata.managedFields[1].operation: Invalid value: \"\": must be `Apply` or `Update`",
		},
		37: {
			"metadata.generation: Invalid value: -1: must be greater than or equal to 0",
			"metadata.generation: Invalid value: -1: must not be decremented",
			`metadata.managedFields[0].operation: Unsupported value: "x": supported values: "Apply", "Update"`,
			"metadata.managedFields[1].operation: Required value: must not be empty",
		},
	} {
		var got []string
		for _, err := range For(minor).Update(meta, &metav1.ObjectMeta{}, path) {
			got = append(got, err.Error())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("1.%d: %s", minor, diff)
		}
	}
}
