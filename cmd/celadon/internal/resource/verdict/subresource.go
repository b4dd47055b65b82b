package verdict

import (
	"context"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// A subresource is a subresource of a built-in kind whose requests contain objects of a kind of its own, such as exec.
// Only policies decide them.
type subresource struct {
	of   builtin.Kind
	name string
	kind schema.GroupVersionKind
}

// routeSubresource finds the subresource whose requests contain an object, if there are policies.
func (d *decision) routeSubresource() {
	if d.Admission == nil {
		return
	}
	catalog, err := builtin.Newest()
	if err != nil {
		return
	}
	kind := schema.FromAPIVersionAndKind(d.report.APIVersion, d.report.Kind)
	of, name, ok := catalog.Subresource(kind)
	if !ok {
		return
	}
	d.subresource = &subresource{of, name, kind}
	if d.report.Namespace == "" && of.Namespaced {
		d.report.Namespace = metav1.NamespaceDefault
	}
}

// decideSubresource evaluates the policies for a request to a subresource. The name and the namespace are those of the
// resource. The object of a connection, such as PodExecOptions, has no metadata: a server makes it from the URL.
func (d *decision) decideSubresource(ctx context.Context) outcome {
	s := d.subresource
	d.report.Operation, d.report.Subresource = Create, s.name
	object := maps.Clone(d.doc.Object)
	if strings.HasSuffix(s.kind.Kind, "Options") {
		d.report.Operation = Connect
		delete(object, "metadata")
	}
	if spec, _ := object["spec"].(map[string]any); s.name == "token" && spec["audiences"] == nil {
		problem := "is undecided: a server sets the audiences of a TokenRequest that has none: set spec.audiences"
		return outcome{verdict: finding.Undecided, problem: problem}
	}
	if d.Server != nil {
		d.Server.SetDefaults(s.kind, object)
	}
	to := subject{policyrequest.Subject{Resource: s.of.GroupVersion().WithResource(s.of.Resource), Kind: s.kind}, d.builtins.Mergeable(s.kind)}
	changed, ok, out := d.mutated(ctx, to, object, nil)
	if ok {
		object = changed
	}
	if out.verdict == "" {
		out = d.admit(ctx, to.Subject, object, nil)
	}
	if out.verdict != "" {
		return out
	}
	return outcome{verdict: finding.Valid}
}
