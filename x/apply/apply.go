// Package apply computes the write that kubectl apply, Argo CD, or Flux sends for an object that a server already has,
// and the object that results. A replacement removes fields that the new object lacks; an apply keeps fields of
// other managers.
//
//	w := apply.Choose(object, old)
//	patch, err := apply.Patch(live, object, nil) // kubectl apply
//	merged, status, err := apply.NewManagers(crd).Merge(live, object, "v1", "", w) // kubectl apply --server-side
//
// The results are those of the libraries of kubectl and the API server. Simple merges are computed without them.
package apply

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastApplied is the annotation in which kubectl apply keeps the object that it sent.
const LastApplied = corev1.LastAppliedConfigAnnotation

// A Kind is a kind of write of an object that exists.
type Kind string

// Kinds of writes.
const (
	Client  Kind = "client"  // a merge of the last applied, the stored, and the new object: kubectl apply
	Server  Kind = "server"  // a merge by the managers of fields: kubectl apply --server-side
	Replace Kind = "replace" // kubectl replace
	None    Kind = "none"    // the tool does not write an object that exists
)

// Kinds lists the kinds that a user can choose.
var Kinds = []Kind{Client, Server, Replace}

// A Write is how a tool writes an object that exists.
type Write struct {
	Kind Kind
	// Manager is the field manager of server-side apply. Force takes fields from other managers instead of a conflict.
	Manager string
	Force   bool
	// Recreate is set if the tool deletes and creates an object whose update the server rejects as invalid.
	Recreate bool
	// Unknown is set if neither object shows which tool writes it.
	Unknown bool
}

// Field managers of tools.
const (
	Kubectl = "kubectl"
	argo    = "argocd-controller"
	flux    = "kustomize-controller"
)

// Choose returns the write for an object by the annotations of Argo CD and Flux on it, or else by the traces that
// earlier writes left in the old object.
func Choose(object, old map[string]any) Write {
	if w, ok := annotated(object); ok {
		return w
	}
	managers := Managed(old)
	for _, tool := range []string{flux, argo} {
		if slices.ContainsFunc(managers, func(m any) bool { return applies(m, tool) }) {
			return Write{Kind: Server, Manager: tool, Force: true}
		}
	}
	switch {
	case Annotation(old, LastApplied) != "":
		return Write{Kind: Client, Manager: Kubectl}
	case len(managers) > 0:
		return Write{Kind: Server, Manager: Kubectl}
	}
	return Write{Kind: Replace, Manager: Kubectl, Unknown: true}
}

func annotated(object map[string]any) (w Write, ok bool) {
	for option := range strings.SplitSeq(Annotation(object, "argocd.argoproj.io/sync-options"), ",") {
		switch strings.TrimSpace(option) {
		case "Replace=true": // it takes precedence
			w.Kind, ok = Replace, true
		case "ServerSideApply=true":
			if w.Kind == "" {
				w.Kind = Server
			}
			w.Manager, w.Force, ok = argo, true, true
		case "Force=true":
			w.Recreate, ok = true, true
		}
	}
	if ok {
		if w.Kind == "" {
			w.Kind = Client
		}
		return w, true
	}
	const fluxGroup = "kustomize.toolkit.fluxcd.io/"
	force := strings.EqualFold(Annotation(object, fluxGroup+"force"), "enabled")
	w = Write{Kind: Server, Manager: flux, Force: true, Recreate: force}
	switch ssa := Annotation(object, fluxGroup+"ssa"); {
	case strings.EqualFold(ssa, "IfNotPresent"), strings.EqualFold(ssa, "Ignore"):
		w.Kind = None
		return w, true
	case ssa != "" || force:
		return w, true
	}
	return Write{}, false
}

// Annotation returns an annotation of an object, or "".
func Annotation(object map[string]any, name string) string {
	meta, _ := object["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	text, _ := annotations[name].(string)
	return text
}

// Managed returns the entries of managedFields of an object.
func Managed(object map[string]any) []any {
	meta, _ := object["metadata"].(map[string]any)
	entries, _ := meta["managedFields"].([]any)
	return entries
}

func applies(entry any, manager string) bool {
	fields, _ := entry.(map[string]any)
	return fields["manager"] == manager && fields["operation"] == string(metav1.ManagedFieldsOperationApply)
}
