package verdict

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
)

// routeSubresource sets d.subresource if requests to a subresource contain objects of this kind. It does nothing without
// policies.
func (d *decision) routeSubresource() {
	if d.Admission == nil {
		return
	}
	d.subresource = d.builtins.Subresource(schema.FromAPIVersionAndKind(d.report.APIVersion, d.report.Kind))
	if d.subresource != nil && d.report.Namespace == "" && d.subresource.Of.Namespaced {
		d.report.Namespace = metav1.NamespaceDefault
	}
}

// decideSubresource evaluates the policies for a request to a subresource. The request has the name and namespace of
// the resource.
func (d *decision) decideSubresource(ctx context.Context) outcome {
	s := d.subresource
	d.report.Operation, d.report.Subresource = strings.ToLower(string(s.Operation())), s.Name
	review, to := d.review(), s.Subject()
	err := review.WriteSubresource(ctx, s, &to, d.doc.Object)
	if out := d.reviewed(ctx, review, &to, err); out.verdict != "" {
		return out
	}
	return outcome{verdict: finding.Valid}
}
