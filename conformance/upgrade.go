package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/celadon-cel/celadon/engine"
	changes "github.com/celadon-cel/celadon/x/analysis/compare"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// This file verifies the claims of x/analysis/compare about a change of a CRD: it serves the old
// CRD, stores an example object, and updates the CRD. If the example is an update of the object or of
// its status, it makes that update. Otherwise, it creates the object again under another name, and updates it without
// changes.

type replayCounts struct{ claims, rejectedUpdates int }

// Upgrade verifies breaking changes for which a comparison has an example object. It returns an error
// for the first claim that the server does not confirm. If the server rejects the new CRD, it
// verifies no claims.
func (s *Server) Upgrade(ctx context.Context, before, after *apiextensionsv1.CustomResourceDefinition) (done replayCounts, err error) {
	report, err := changes.CRDs(ctx, before, after, changes.Config{})
	if err != nil {
		return done, err
	}
	r, err := s.Serve(ctx, before)
	if err != nil {
		return done, fmt.Errorf("the old CRD: %w", err)
	}
	defer func() {
		if gone := r.Remove(context.WithoutCancel(ctx)); err == nil {
			err = gone
		}
	}()
	var claims []*claim
	for i := range report.Changes {
		c := &claim{resource: r, change: &report.Changes[i], namespace: fmt.Sprintf("claim-%d", i)}
		if c.change.Rejected == nil || c.change.Path == "" && c.change.Subject == "version" {
			continue
		}
		if err := c.store(ctx); err != nil {
			return done, fmt.Errorf("%s %s under the old CRD: %w", c.change.Path, c.change.Subject, err)
		}
		claims = append(claims, c)
	}
	if err := s.replace(ctx, r, after); apierrors.IsInvalid(err) {
		done.rejectedUpdates++ // the report's first change predicts this
		return done, nil
	} else if err != nil {
		return done, err
	}
	for _, c := range claims {
		if err := c.checkUntilApplied(ctx); err != nil {
			return done, fmt.Errorf("%s %s: %w", c.change.Path, c.change.Subject, err)
		}
		done.claims++
	}
	return done, nil
}

func (s *Server) replace(ctx context.Context, r *Resource, after *apiextensionsv1.CustomResourceDefinition) error {
	crds := s.crds.ApiextensionsV1().CustomResourceDefinitions()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the server's controllers also update it
		now, err := crds.Get(ctx, after.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Annotations, now.Spec = after.Annotations, after.DeepCopy().Spec
		if now, err = crds.Update(ctx, now, metav1.UpdateOptions{}); err == nil {
			r.crd = now
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.waitUntilServed(ctx)
}

// claim is a breaking change for which a comparison has an example object.
type claim struct {
	resource  *Resource
	change    *changes.CRDChange
	namespace string
	stored    map[string]any
	same      bool // the status was already written without changes
}

func (c *claim) witness() *changes.Witness { return c.change.Rejected }

// Objects of cluster-scoped kinds have no namespace and get a name that is unique to the claim.
func (c *claim) named(obj map[string]any, suffix string) (out map[string]any, namespace string) {
	if c.resource.namespaced() {
		namespace = c.namespace
	}
	out = inNamespace(obj, namespace)
	if namespace == "" {
		suffix = c.namespace + suffix
	}
	if suffix != "" {
		metadata := maps.Clone(metadataOf(out))
		metadata["name"] = "claim" + suffix
		out["metadata"] = metadata
	}
	return out, namespace
}

func (c *claim) store(ctx context.Context) error {
	w := c.witness()
	obj := w.Object
	if w.Operation == search.Update {
		obj = w.Old
	}
	obj, namespace := c.named(obj, "")
	version := c.change.OldVersion
	ok, err := c.resource.storeByRequest(ctx, &Case{Version: version, OldVersion: version}, obj, namespace, nameOf(obj))
	if err != nil || !ok {
		return fmt.Errorf("not stored (%v): %v", err, obj)
	}
	c.stored, err = c.resource.get(ctx, version, namespace, nameOf(obj))
	return err
}

// settle is the maximum time until the server uses a new schema.
const settle = pollUntil

// checkUntilApplied repeats the check until the server uses the new schema.
func (c *claim) checkUntilApplied(ctx context.Context) error {
	deadline := time.Now().Add(settle)
	for {
		err := c.checkWrite(ctx)
		if err == nil || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		time.Sleep(10 * pollEvery)
	}
}

func (c *claim) checkWrite(ctx context.Context) error {
	w := c.witness()
	switch w.Operation {
	case search.Update:
		obj, namespace := c.named(w.Object, "")
		setDefault(obj, "resourceVersion", metadataOf(c.stored)["resourceVersion"])
		return c.put(ctx, obj, namespace, "", w.ChangedUpdate)
	case search.Status:
		return c.checkStatus(ctx)
	}
	obj, namespace := c.named(w.Object, "-again")
	got, err := c.write(ctx, http.MethodPost, obj, namespace, "", "")
	if err != nil {
		return err
	}
	_ = c.resource.forget(ctx, namespace, nameOf(obj))
	if err := c.agree("create", w.Create, got); err != nil {
		return err
	}
	return c.put(ctx, c.stored, namespace, "", w.UnchangedUpdate)
}

// checkStatus writes the status without changes, and then removes and restores it. It writes the same
// status only until that succeeds, and repeats the rest with each call, because the server may
// still have used the old schema.
func (c *claim) checkStatus(ctx context.Context) error {
	w := c.witness()
	namespace, _ := metadataOf(c.stored)["namespace"].(string)
	if !c.same {
		if err := c.put(ctx, c.stored, namespace, "status", w.UnchangedUpdate); err != nil {
			return err
		}
		c.same = true
	}
	if err := c.putStatus(ctx, namespace, nil, changes.Accepted); err != nil {
		return err
	}
	return c.putStatus(ctx, namespace, w.Object["status"], w.ChangedUpdate)
}

func (c *claim) putStatus(ctx context.Context, namespace string, status any, want changes.Verdict) error {
	now, err := c.resource.get(ctx, c.change.Version, namespace, nameOf(c.stored))
	if err != nil {
		return err
	}
	if delete(now, "status"); status != nil {
		now["status"] = status
	}
	return c.put(ctx, now, namespace, "status", want)
}

func (c *claim) put(ctx context.Context, obj map[string]any, namespace, subresource string, want changes.Verdict) error {
	got, err := c.write(ctx, http.MethodPut, obj, namespace, nameOf(obj), subresource)
	if err != nil {
		return err
	}
	return c.agree("update "+subresource, want, got)
}

func (c *claim) write(ctx context.Context, method string, obj map[string]any, namespace, name, subresource string) (*response, error) {
	obj = maps.Clone(obj)
	obj["apiVersion"] = c.resource.crd.Spec.Group + "/" + c.change.Version
	body, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return c.resource.do(ctx, call{method: method, version: c.change.Version, namespace: namespace, name: name, subresource: subresource, body: body})
}

func (c *claim) agree(write string, want changes.Verdict, got *response) error {
	accepted := got.code == http.StatusOK || got.code == http.StatusCreated
	if accepted == (want == changes.Rejected) {
		return fmt.Errorf("%s: the server answers %d, want %s: %s", write, got.code, want, shorten(string(got.body), 400))
	}
	if !accepted || want != changes.Changed {
		return nil
	}
	obj, err := engine.Decode(got.body)
	if err != nil {
		return err
	}
	for change := range valuediff.Values(c.witness().Object, obj) {
		if len(change.Path) > 0 && change.Path[0].Name != "metadata" && change.Path[0].Name != "apiVersion" {
			return nil
		}
	}
	return fmt.Errorf("%s: the server keeps the object as it was: %s", write, shorten(string(got.body), 400))
}
