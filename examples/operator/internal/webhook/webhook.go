// Package webhook validates custom resources against the CRDs of the cluster.
package webhook

import (
	"context"
	"errors"
	"net/http"

	celadon "github.com/celadon-cel/celadon/engine/admission"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Add adds the webhook, and the controller that keeps its CRDs up to date, to a manager. The manager's
// scheme must contain apiextensions.k8s.io/v1.
func Add(mgr ctrl.Manager, cfg celadon.Config) error {
	set := celadon.NewSet(cfg)
	mgr.GetWebhookServer().Register("/validate", &admission.Webhook{Handler: &Handler{set}})
	return ctrl.NewControllerManagedBy(mgr).
		For(&apiextensionsv1.CustomResourceDefinition{}).
		Complete(&CRDReconciler{mgr.GetClient(), set})
}

// A Handler validates requests with a set of CRDs.
type Handler struct{ Set *celadon.Set }

// Handle returns the response that the API server would give with the CRDs of the set.
func (h *Handler) Handle(ctx context.Context, req admission.Request) admission.Response {
	d, err := h.Set.Validate(ctx, &req.AdmissionRequest)
	var bad *celadon.RequestError
	switch {
	case errors.As(err, &bad):
		return admission.Errored(http.StatusBadRequest, err)
	case err != nil:
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.Response{AdmissionResponse: *d.Response}
}

// A CRDReconciler adds the CRDs of the cluster to a set.
type CRDReconciler struct {
	client.Client
	Set *celadon.Set
}

// Reconcile adds, replaces, or removes a CRD.
func (r *CRDReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	err := r.Get(ctx, req.NamespacedName, crd)
	switch {
	case apierrors.IsNotFound(err):
		r.Set.Remove(req.Name)
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Set.Put(crd)
}
