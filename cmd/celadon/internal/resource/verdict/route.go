package verdict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/types"
)

func (d *decision) route() outcome {
	id := d.doc.Identity()
	def, typed := d.CRDs.addressee(d.doc.Object, id)
	if err := readable(d.doc, id); err != nil && (typed || def == nil) {
		return outcome{verdict: finding.Unreadable, problem: err.Error()}
	}
	d.def, d.typed, d.report.Identity = def, typed, id
	if encrypted(d.doc.Object) {
		d.report.Encrypted = true
		return outcome{verdict: finding.Skipped, problem: "encrypted with SOPS: check the output of sops --decrypt"}
	}
	if def != nil {
		if def.engine.Info().Namespaced && id.Namespace == "" {
			d.report.Namespace = metav1.NamespaceDefault
		}
		return outcome{}
	}
	if of := d.CRDs.conflicts[id.GroupKind()]; of != nil && typed {
		d.conflict = of
		return outcome{verdict: finding.Undecided, problem: of.problem}
	}
	if d.Among && (isCRD(id) && !d.admitsCRDs || resource.Generates(d.doc)) {
		return outcome{verdict: finding.Ignored, problem: "a definition: the objects are checked against it"}
	}
	if typed && (!isCRD(id) || d.admitsCRDs) {
		if out := d.routeBuiltin(); out.verdict != "" || d.builtin != nil {
			return out
		}
		if d.routeSubresource(); d.subresource != nil {
			return outcome{}
		}
		if out := d.CRDs.unknownKind(id); out.verdict != "" {
			return out
		}
	}
	return outcome{verdict: finding.Skipped, problem: fmt.Sprintf("no CRD given for %s", id.GroupKind())}
}

// encrypted reports whether SOPS has encrypted an object. The tool that decrypts it also removes the field sops, which
// servers reject.
func encrypted(obj map[string]any) bool {
	sops, _ := obj["sops"].(map[string]any)
	mac, _ := sops["mac"].(string)
	return strings.HasPrefix(mac, "ENC[")
}

const crdGroup = "apiextensions.k8s.io"

func isCRD(id input.Identity) bool {
	return id.Kind == resource.Kind && id.GroupKind().Group == crdGroup
}

func (d *decision) routeBuiltin() outcome {
	if d.Admission == nil && d.Server == nil {
		return outcome{}
	}
	gvk := schema.FromAPIVersionAndKind(d.report.APIVersion, d.report.Kind)
	if d.Server != nil {
		if d.absence = d.Server.Absent(gvk, d.minor()); d.absence != nil {
			return notFound(Create, fmt.Sprintf("no matches for kind %q in version %q%s", gvk.Kind, d.report.APIVersion, d.absence.Hint))
		}
	}
	kind, err := d.builtins.Kind(gvk, engine.Config{KubeVersion: d.KubeVersion})
	if err != nil {
		return failed(err)
	}
	if kind == nil || !kind.Exact() && d.Admission == nil {
		return outcome{}
	}
	if !kind.Exact() {
		if d.routeSubresource(); d.subresource != nil { // a Binding, which is also a resource
			return outcome{}
		}
	}
	d.builtin, d.report.StructureOnly = kind, !kind.Exact()
	d.report.Namespace = kind.Namespace(d.report.Namespace, nameOf(d.doc.Object))
	return outcome{}
}

// Serves reports whether an object is of a built-in group that the Server validates, even if the kind is misspelled
// or gone.
func (d *Decider) Serves(id input.Identity) bool {
	if d.Server == nil || id.APIVersion == "" || id.Kind == "" || isCRD(id) {
		return false
	}
	kind := schema.FromAPIVersionAndKind(id.APIVersion, id.Kind)
	_, ok := d.Server.Resource(kind)
	return ok || d.Server.Absent(kind, d.minor()) != nil
}

// minor returns 0 if KubeVersion is invalid.
func (d *Decider) minor() int {
	v, err := types.ParseVersion(d.KubeVersion)
	if err != nil {
		return 0
	}
	return v.Minor
}

func readable(doc *input.Document, id input.Identity) error {
	switch {
	case doc.Err != nil:
		return doc.Err
	case id.APIVersion != "" && id.Kind != "":
		return nil
	case mistyped(doc.Object):
		return errors.New("not a Kubernetes object: apiVersion or kind is not a string")
	}
	return errors.New("not a Kubernetes object: apiVersion or kind is missing")
}

// addressee returns the definition that validates an object, or nil if no usable CRD was given for it. If the
// object's apiVersion or kind is not a string, it is not typed: the only CRD of its kind, or of its group if the kind
// is unknown, then validates it, because every endpoint rejects it in nearly the same words.
func (c *CRDs) addressee(obj map[string]any, id input.Identity) (def *Definition, typed bool) {
	if !mistyped(obj) {
		return c.find(id.GroupKind()), true
	}
	group := id.GroupKind().Group
	var only *Definition
	for _, def := range c.All {
		spec := def.CRD.Spec
		if (id.Kind == "" || spec.Names.Kind != id.Kind) && (id.Kind != "" || group == "" || spec.Group != group) {
			continue
		}
		if only != nil {
			return nil, false
		}
		only = def
	}
	if only == nil {
		return nil, false
	}
	return c.find(only.entry.Kind), false
}

func mistyped(obj map[string]any) bool {
	for _, name := range []string{"apiVersion", "kind"} {
		v, ok := obj[name]
		if _, isText := v.(string); ok && !isText {
			return true
		}
	}
	return false
}

// unknownKind rejects an object whose group has CRDs, but none for its kind. A client finds no endpoint for such an
// object. If a file could not be read, it may have the missing CRD, so the object is undecided.
func (c *CRDs) unknownKind(id input.Identity) outcome {
	group := id.GroupKind().Group
	if group == "" || c.Knows(id.GroupKind()) {
		return outcome{}
	}
	var kinds []string
	for _, def := range c.All {
		if def.CRD.Spec.Group == group {
			kinds = append(kinds, def.CRD.Spec.Names.Kind)
		}
	}
	if len(kinds) == 0 {
		return outcome{}
	}
	hint := spell.DidYouMean(id.Kind, kinds)
	if hint == "" {
		hint = fmt.Sprintf(": the CRDs of %s do not define it", group)
	}
	message := fmt.Sprintf("no matches for kind %q in version %q%s", id.Kind, id.APIVersion, hint)
	if c.lost || len(c.Problems) > 0 {
		problem := "is undecided: " + message + "; its CRD may be in a file that cannot be read"
		return outcome{verdict: finding.Undecided, problem: problem}
	}
	return notFound(Create, message)
}

func notFound(operation, message string) outcome {
	return outcome{verdict: finding.Invalid, operation: operation, status: &finding.Status{
		Code: 404, Reason: string(metav1.StatusReasonNotFound), Message: message,
	}}
}

// unserved rejects an object in a version that the CRD does not serve. A client finds no endpoint for such an object.
func (def *Definition) unserved(id input.Identity) outcome {
	if slices.Contains(def.served, id.Version()) {
		return outcome{}
	}
	return notFound(Create, fmt.Sprintf("no matches for kind %q in version %q: the CRD serves %s",
		id.Kind, id.APIVersion, strings.Join(def.served, ", ")))
}

func (def *Definition) noSubresource(obj map[string]any, subresource string) outcome {
	if subresource == "" {
		return outcome{}
	}
	v := def.view(obj)
	if v == nil {
		return outcome{}
	}
	if s := v.Subresources; s != nil && (subresource == "status" && s.Status != nil || subresource == "scale" && s.Scale != nil) {
		return outcome{}
	}
	const message = "the server could not find the requested resource: version %s of the CRD has no %s subresource"
	return notFound(Update, fmt.Sprintf(message, v.Name, subresource))
}
