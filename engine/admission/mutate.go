package admission

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
)

// Mutate handles a request as a mutating webhook: it returns a JSON patch (RFC 6902) that adds the
// CRD's defaults that the object lacks. It never rejects an object; Validate does that after all
// mutations. If the patch would take several megabytes, the response contains a warning instead.
// Only fields that the request may write get defaults: not status if the CRD has the status
// subresource, and only status through that subresource. In the modes Warn and Audit, the response
// has no patch; the audit annotations describe it.
func (s *Set) Mutate(ctx context.Context, req *admissionv1.AdmissionRequest) (*Decision, error) {
	crd, d, err := s.route(req)
	if crd == nil || err != nil {
		return d, err
	}
	obj, err := decode("object", &req.Object)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.CRD, d.Verdict = crd.Name, Allowed
	d.Response.AuditAnnotations = map[string]string{AuditCRD: crd.Name, AuditVerdict: string(Allowed)}
	write := engine.Request{Object: obj, FieldValidation: metav1.FieldValidationIgnore}
	if req.SubResource == statusSubresource {
		write.Subresource = req.SubResource
		if write.OldObject, err = decode("oldObject", &req.OldObject); err != nil {
			return nil, err
		}
	}
	defaulted, err := crd.engine.Prepare(write)
	if err != nil { // not a valid custom resource: Validate rejects it, unless this is an internal error
		if _, bug := s.Validate(ctx, req); bug != nil {
			return nil, bug
		}
		return s.noDefaults(d, err.Error()), nil
	}
	ops, ok := additions(writable(crd, req, obj), defaulted.Self)
	annotate(d.Response.AuditAnnotations, AuditDefaults, len(ops), func(i int) string { return ops[i].Path })
	if !ok {
		return s.noDefaults(d, "too many fields to default"), nil
	}
	if len(ops) == 0 {
		return d, nil
	}
	if s.config.Mode != Enforce {
		return d, nil
	}
	kind := admissionv1.PatchTypeJSONPatch
	d.Response.PatchType = &kind
	d.Response.Patch, err = json.Marshal(ops)
	return d, err
}

func (s *Set) noDefaults(d *Decision, why string) *Decision {
	if s.config.Mode != Audit {
		d.Response.Warnings = []string{"celadon: no defaults: " + shorten(why)}
	}
	return d
}

// writable returns obj with the top-level fields that the request may write.
func writable(crd *crd, req *admissionv1.AdmissionRequest, obj map[string]any) object {
	o := object{fields: obj, skip: map[string]bool{"apiVersion": true, "kind": true, "metadata": true}}
	if !crd.HasStatus(req.Kind.Version) {
		return o
	}
	if o.onlyStatus = req.SubResource == statusSubresource; !o.onlyStatus {
		o.skip["status"] = true
	}
	return o
}
