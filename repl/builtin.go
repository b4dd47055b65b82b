package repl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: for an object of a built-in kind, the session has a CRD with the schemas of the kind and
// without rules, so that types, paths, and completion are as for custom resources. Defaults and verdicts come
// from Host.Builtins.

var errBuiltinRules = errors.New("built-in kinds have no rules of their own: load a policy with :load policy FILE")

// BuiltinCRD returns a document that describes a built-in kind in all its versions. ok is false if the kind
// is not built in, has no objects, or is CustomResourceDefinition.
func BuiltinCRD(kind schema.GroupKind) (doc Document, ok bool) {
	catalog, err := builtin.Newest()
	if err != nil {
		return Document{}, false
	}
	def, err := catalog.CRD(kind)
	if err != nil || def == nil || kind == apiextensionsv1.Kind("CustomResourceDefinition") {
		return Document{}, false
	}
	data, err := json.Marshal(def)
	return Document{File: "Kubernetes " + catalog.Release(), JSON: data, builtin: true}, err == nil
}

func withBuiltin(crds []Document, objects []schema.GroupKind) []Document {
	known, _ := Definitions(crds)
	if slices.ContainsFunc(objects, func(kind schema.GroupKind) bool { return slices.Contains(known, kind) }) {
		return crds
	}
	for _, kind := range objects {
		if doc, ok := BuiltinCRD(kind); ok {
			return append(slices.Clone(crds), doc)
		}
	}
	return crds
}

func kindsOf(docs []Document) []schema.GroupKind {
	kinds := make([]schema.GroupKind, len(docs))
	for i, doc := range docs {
		kinds[i] = identify(doc).kind
	}
	return kinds
}

func (s *Session) loadBuiltin(doc Document) error {
	kind := identify(doc).kind
	if c := s.state.crd; c != nil && (c.builtins == nil || c.kind() == kind) {
		return nil
	}
	crd, ok := BuiltinCRD(kind)
	if !ok {
		return nil
	}
	return s.LoadCRD(crd)
}

func (c *crd) prepare(req engine.Request) (*engine.Prepared, error) {
	p, err := c.engine.Prepare(req)
	if err != nil || c.builtins == nil || c.builtins.Server == nil {
		return p, err
	}
	for _, object := range []*map[string]any{&p.Self, &p.Old} {
		if *object != nil {
			*object = runtime.DeepCopyJSON(*object)
			c.builtins.Server.SetDefaults(kindIn(*object), *object)
		}
	}
	return p, nil
}

func (st *state) validate(ctx context.Context) (*engine.Result, error) {
	req := st.request()
	if st.crd.builtins == nil {
		return st.crd.writer.Validate(ctx, req, st.apply)
	}
	k, err := st.crd.builtins.Kind(kindIn(req.Object), engine.Config{})
	if err != nil {
		return nil, err
	}
	if k == nil {
		return nil, fmt.Errorf("no built-in kind %s", kindIn(req.Object))
	}
	return k.Write(ctx, st.builtinWrite(req))
}

func (st *state) builtinWrite(req engine.Request) policyrequest.Write {
	version, _ := types.ParseVersion(st.kube) // checked before
	return policyrequest.Write{
		Object: req.Object, OldObject: req.OldObject, Subresource: req.Subresource, Namespace: identify(st.object.doc).namespace,
		KubeMinor: version.Minor, Apply: st.apply,
	}
}
