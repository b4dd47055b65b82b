package apply

import (
	"context"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/celadon-cel/celadon/engine"
)

// How it works: after kubectl apply --server-side, fields of earlier client-side applies still belong to their manager.
// kubectl gives them to the manager of server-side apply and sends the request again, so that fields that the manifest
// no longer has are removed; see migrateToSSAIfNecessary in k8s.io/kubectl/pkg/cmd/apply.

// annotationManager is the field manager of the annotation LastApplied after kubectl has migrated an object, so that it
// is kept.
const annotationManager = "kubectl-last-applied"

var lastAppliedField = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", corev1.LastAppliedConfigAnnotation))

func (w Write) migrates() bool { return w.Manager != argo && w.Manager != flux }

// Migrated returns the result of kubectl apply --server-side, with its managedFields, as kubectl changes it before it
// sends the request again. ok is false if kubectl does not change it.
func Migrated(object map[string]any, w Write) (migrated map[string]any, ok bool) {
	defer func() {
		if recover() != nil { // of the library
			migrated, ok = nil, false
		}
	}()
	if w.Kind != Server || !w.migrates() || len(Managed(object)) == 0 {
		return nil, false
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	names := sets.New[string]()
	for _, entry := range csaupgrade.FindFieldsOwners(u.GetManagedFields(), metav1.ManagedFieldsOperationUpdate, lastAppliedField) {
		names.Insert(entry.Manager)
	}
	if w.Manager == Kubectl && Annotation(object, LastApplied) != "" {
		keepAnnotation(u)
	}
	before := u.GetManagedFields()
	if csaupgrade.UpgradeManagedFields(u, names, w.Manager) != nil || reflect.DeepEqual(before, u.GetManagedFields()) {
		return nil, false
	}
	return u.Object, true
}

// keepAnnotation makes annotationManager a manager of the annotation LastApplied, unless a tool applies it.
func keepAnnotation(u *unstructured.Unstructured) {
	if len(csaupgrade.FindFieldsOwners(u.GetManagedFields(), metav1.ManagedFieldsOperationApply, lastAppliedField)) > 0 {
		return
	}
	meta := u.Object["metadata"].(map[string]any)
	meta["managedFields"] = append(Managed(u.Object), map[string]any{
		"manager": annotationManager, "operation": string(metav1.ManagedFieldsOperationApply),
		"apiVersion": u.GetAPIVersion(), "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:annotations": map[string]any{"f:" + LastApplied: map[string]any{}}}},
	})
}

// Migrate returns the result of a write after the request that kubectl sends again to an object that client-side apply
// has written before. Without such a request, or if it is rejected, which is only a warning of kubectl, it returns res.
// res is the result of sent.
func (w *Writer) Migrate(ctx context.Context, sent *Request, res *engine.Result) (*engine.Result, error) {
	fields := Managed(sent.Object)
	if sent.applied == nil || res == nil || !res.Allowed || len(fields) == 0 {
		return res, nil
	}
	stored, meta := maps.Clone(res.Object), maps.Clone(res.Object["metadata"].(map[string]any))
	stored["metadata"], meta["managedFields"] = meta, fields
	old, ok := Migrated(stored, sent.how)
	if !ok {
		return res, nil
	}
	merged, status, err := w.Merge(old, sent.applied, versionOf(sent.applied), "", sent.how)
	if err != nil || status != nil {
		return res, err
	}
	again, err := w.engine.Validate(ctx, engine.Request{Object: merged, OldObject: old, FieldValidation: sent.FieldValidation, Merged: true})
	if err != nil || !again.Allowed {
		return res, err
	}
	migrated := *res
	migrated.Object, migrated.Stored = again.Object, again.Stored
	return &migrated, nil
}
