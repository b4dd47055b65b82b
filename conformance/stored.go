package conformance

import (
	"context"
	"encoding/json"
	"path"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// This file writes CRDs and objects to etcd that the API server would reject today, as if an older
// server or an older schema had accepted them. That is how they exist in real clusters. From then
// on the server handles them as usual. TestStoredIsAsUpdated checks that the result is the same as
// creating them under an older schema.

// servedSoon limits the wait for a stored CRD to be served. It is short, because a CRD whose schema
// is not structural is never served.
const servedSoon = time.Minute

// serveStored serves a CRD that the server would reject, for example because of the cost of its
// rules. The server serves stored CRDs without validating them again.
func (s *Server) serveStored(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (*Resource, error) {
	stored := asEstablished(crd)
	data, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	if _, err := s.store.Put(ctx, crdKey(stored.Name), string(data)); err != nil {
		return nil, err
	}
	r := newResource(s, stored)
	wait, cancel := context.WithTimeout(ctx, servedSoon)
	defer cancel()
	if err := r.waitUntilServed(wait); err != nil {
		_, _ = s.store.Delete(context.WithoutCancel(ctx), crdKey(stored.Name))
		return nil, err
	}
	return r, nil
}

func crdKey(name string) string {
	return path.Join(etcdPrefix, apiextensionsv1.GroupName, "customresourcedefinitions", name)
}

func asEstablished(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	out := crd.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(out)
	// The conditions are a minute old, because the server delays requests to a CRD that was just
	// established.
	since := metav1.NewTime(time.Now().Add(-time.Minute))
	out.UID, out.Generation, out.CreationTimestamp = uuid.NewUUID(), 1, since
	out.Status = apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: out.Spec.Names}
	for _, kind := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.NamesAccepted, apiextensionsv1.Established} {
		out.Status.Conditions = append(out.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: kind, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: since, Reason: "Stored",
		})
	}
	for _, v := range out.Spec.Versions {
		if v.Storage {
			out.Status.StoredVersions = []string{v.Name}
		}
	}
	return out
}

func (r *Resource) put(ctx context.Context, namespace, name string, object map[string]any) error {
	data, err := json.Marshal(r.asStored(object))
	if err != nil {
		return err
	}
	_, err = r.server.store.Put(ctx, r.key(namespace, name), string(data))
	return err
}

func (r *Resource) asStored(object map[string]any) map[string]any {
	object = inNamespace(object, "")
	object["apiVersion"] = r.crd.Spec.Group + "/" + r.storageVersion()
	delete(metadataOf(object), "selfLink") // every server clears it before it stores an object
	setDefault(object, "uid", string(uuid.NewUUID()))
	setDefault(object, "generation", int64(1))
	setDefault(object, "creationTimestamp", time.Now().UTC().Format(time.RFC3339))
	return object
}

// forget ignores finalizers.
func (r *Resource) forget(ctx context.Context, namespace, name string) error {
	_, err := r.server.store.Delete(ctx, r.key(namespace, name))
	return err
}

func (r *Resource) key(namespace, name string) string {
	return path.Join(etcdPrefix, r.crd.Spec.Group, r.crd.Spec.Names.Plural, namespace, name)
}
