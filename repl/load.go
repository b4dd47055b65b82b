package repl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

func load(_ context.Context, s *Session, arg string) (string, error) {
	if s.host.Load == nil {
		return "", errNoFiles
	}
	var c choice
	arg, c.name, _ = strings.Cut(arg, " --name ")
	c.name = strings.TrimSpace(c.name)
	c.file = strings.TrimSpace(arg)
	if first, rest, ok := strings.Cut(arg, " "); ok && slices.Contains(loadable, first) {
		c.kind, c.file = first, strings.TrimSpace(rest)
	}
	noFile := errors.New("no file given: use :load [crd|object|old|policy] FILE")
	if c.file == "" {
		return "", noFile
	}
	if doc, ok := s.crdNamed(c.file); ok && c.kind == "crd" {
		return "", s.replaceCRD(doc)
	}
	docs, err := s.host.Load(c.file)
	switch {
	case err != nil && c.kind == "" && slices.Contains(loadable, c.file):
		return "", noFile
	case err != nil:
		return "", err
	case c.kind == "":
		c.kind = kindOf(docs)
	}
	if err := c.mismatch(docs); err != nil {
		return "", err
	}
	if c.kind == "policy" {
		problems, err := s.LoadPolicies(docs)
		return termwidth.Fold(notes(problems), s.Width, 2), err
	}
	if st := s.state; st.crd != nil && st.crd.builtins == nil {
		c.kinds = []schema.GroupKind{st.crd.kind()}
	}
	if s.state.object != nil {
		c.like = identify(s.state.object.doc)
	}
	doc, err := c.from(docs)
	if err != nil {
		return "", err
	}
	switch c.kind {
	case "crd":
		return "", s.replaceCRD(doc)
	case "old":
		return "", s.LoadOld(doc)
	}
	return "", s.asOne(func() error {
		if err := s.loadBuiltin(doc); err != nil {
			return err
		}
		return s.LoadObject(doc)
	})
}

func (s *Session) replaceCRD(doc Document) error {
	if s.losesRules() {
		return errors.New("unsaved rules would be lost: run :save or :undo first")
	}
	return s.LoadCRD(doc)
}

func (c *choice) mismatch(docs []Document) error {
	crds := slices.ContainsFunc(docs, Document.isCRD)
	wantCRD := c.kind == "crd"
	if len(docs) == 0 || c.kind == "policy" || wantCRD && crds || !wantCRD && slices.ContainsFunc(docs, func(doc Document) bool { return !doc.isCRD() }) {
		return nil
	}
	want, other := "an object", "crd"
	if wantCRD {
		want, other = "a CRD", kindOf(docs)
	}
	held := phrase.Count(len(docs), "object")
	switch {
	case crds && len(docs) == 1:
		held = "a CRD"
	case crds:
		held = phrase.Count(len(docs), "CRD")
	case len(docs) == 1 && docs[0].Kind() != "":
		held = article(docs[0].Kind())
	}
	return fmt.Errorf("%s holds %s, not %s: use :load %s %s", c.file, held, want, other, c.file)
}

func article(kind string) string {
	if strings.ContainsRune("AEIOU", rune(kind[0])) {
		return "an " + termwidth.Cut(kind, maxValue)
	}
	return "a " + termwidth.Cut(kind, maxValue)
}

func kindOf(docs []Document) string {
	switch {
	case len(docs) > 0 && docs[0].isCRD():
		return "crd"
	case slices.ContainsFunc(docs, func(doc Document) bool { return identify(doc).kind == policyKind }):
		return "policy"
	}
	return "object"
}

type choice struct {
	kind string // "crd", "object", "old", or "policy"
	file string
	name string
	// kinds are the allowed kinds of an object, if a file has several. If empty, any kind is allowed.
	kinds []schema.GroupKind
	// like is the identity of the current object, or a zero value. An old object is selected by it.
	like identity
}

// from selects a document by kind, name, and, for an old object, the identity of the current object. Without a name,
// the only object of a file is selected whatever its kind is.
func (c *choice) from(docs []Document) (Document, error) {
	candidates := docs
	keep := func(is func(Document) bool) {
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(doc Document) bool { return !is(doc) })
	}
	keep(func(doc Document) bool { return doc.isCRD() == (c.kind == "crd") })
	all := candidates
	if len(candidates) > 1 && c.kind != "crd" && len(c.kinds) > 0 {
		if keep(func(doc Document) bool { return slices.Contains(c.kinds, identify(doc).kind) }); len(candidates) == 0 {
			return Document{}, fmt.Errorf("%s: %s, none of kind %s", c.file, phrase.Count(len(all), "object"), c.kinds[0].Kind)
		}
	}
	ofKind := candidates
	switch {
	case c.name != "":
		if keep(func(doc Document) bool { return identify(doc).called(c.name) }); len(candidates) == 0 {
			return Document{}, fmt.Errorf("%s: no object is named %s%s", c.file, c.name, spell.DidYouMean(c.name, names(ofKind)))
		}
	case len(candidates) > 1 && c.kind == "old" && c.like != identity{}:
		if i := slices.IndexFunc(candidates, func(doc Document) bool { return identify(doc) == c.like }); i >= 0 {
			return candidates[i], nil
		}
	}
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	noun, hint := "object", ""
	if c.kind == "crd" {
		noun = "CRD"
	}
	if len(candidates) > 1 {
		hint = ", or --name NAME: " + termwidth.Cut(strings.Join(names(candidates), ", "), maxValue)
	}
	return Document{}, fmt.Errorf("%s: %s: want one%s", c.file, phrase.Count(len(candidates), noun), hint)
}

func names(docs []Document) []string {
	out := make([]string, len(docs))
	for i, doc := range docs {
		out[i] = identify(doc).name
	}
	return out
}

type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

func (id identity) called(name string) bool {
	return name == id.name || name == id.namespace+"/"+id.name
}

// identify returns the identity of doc, or a zero identity if it cannot be decoded. An object without a
// namespace is in the namespace default.
func identify(doc Document) identity {
	var obj struct {
		APIVersion, Kind string
		Metadata         struct{ Name, Namespace string }
	}
	if json.Unmarshal(doc.JSON, &obj) != nil {
		return identity{}
	}
	return identity{schema.FromAPIVersionAndKind(obj.APIVersion, obj.Kind).GroupKind(), cmp.Or(obj.Metadata.Namespace, "default"), obj.Metadata.Name}
}

func identityOf(object map[string]any) identity {
	u := unstructured.Unstructured{Object: object}
	// The strings may be parts of a larger text.
	return identity{groupKindOf(object), strings.Clone(cmp.Or(u.GetNamespace(), "default")), strings.Clone(u.GetName())}
}

func groupKindOf(object map[string]any) schema.GroupKind {
	kind := kindIn(object).GroupKind()
	return schema.GroupKind{Group: strings.Clone(kind.Group), Kind: strings.Clone(kind.Kind)}
}

func kindIn(object map[string]any) schema.GroupVersionKind {
	u := unstructured.Unstructured{Object: object}
	return schema.FromAPIVersionAndKind(u.GetAPIVersion(), u.GetKind())
}

// Inputs holds the documents that a session starts with.
type Inputs struct {
	CRDs, Objects, Olds          []Document
	CRDPath, ObjectPath, OldPath string
	// Name selects among several objects of a kind, as NAME or NAMESPACE/NAME.
	Name string
	// Paths are files and folders whose documents Open sorts by content.
	Paths []string
}

// Start loads the session's first CRD and objects. If in has several objects, it selects one by kind and name, and then
// the CRD of its kind. Objects of built-in kinds need no CRD; for others, the error is ErrNoCRD if none is given. Start
// cannot be undone.
func (s *Session) Start(in Inputs) error {
	if in.CRDPath == "" {
		in.CRDs = withBuiltin(nil, kindsOf(in.Objects))
		switch {
		case len(in.CRDs) == 0 && in.ObjectPath == "" && in.OldPath == "":
			return nil
		case len(in.CRDs) == 0:
			return ErrNoCRD
		}
	}
	kinds, crds := Definitions(in.CRDs)
	if len(crds) == 0 {
		return fmt.Errorf("no CustomResourceDefinition in %s", in.CRDPath)
	}
	c := choice{kind: "object", file: in.ObjectPath, name: in.Name, kinds: kinds}
	var obj Document
	i, err := 0, error(nil)
	if in.ObjectPath != "" {
		if obj, err = c.from(in.Objects); err != nil {
			return err
		}
		c.like = identify(obj)
		i = slices.Index(kinds, c.like.kind)
	}
	switch {
	case i < 0:
		return fmt.Errorf("%s: no CRD for kind %s: add it with --crd", in.ObjectPath, c.like.kind)
	case in.ObjectPath == "" && len(crds) > 1:
		return fmt.Errorf("%s: %s: want one CRD, or use --object FILE to choose", in.CRDPath, phrase.Count(len(crds), "CRD"))
	}
	if err = s.LoadCRD(crds[i]); err == nil && in.ObjectPath != "" {
		c.kinds = kinds[i : i+1]
		err = s.LoadObject(obj)
	}
	if err == nil && in.OldPath != "" {
		err = s.startOld(in, c)
	}
	if err == nil {
		s.past = nil
	}
	return err
}

// Without an object, startOld does not choose among several old objects.
func (s *Session) startOld(in Inputs, c choice) error {
	if s.keepOlds(in); in.ObjectPath == "" && s.olds != nil {
		return nil
	}
	c.kind, c.file = "old", in.OldPath
	old, err := c.from(in.Olds)
	if err != nil {
		return err
	}
	return s.LoadOld(old)
}

// Definitions returns the CRDs among docs and the kinds that they define.
func Definitions(docs []Document) (kinds []schema.GroupKind, crds []Document) {
	for _, doc := range docs {
		if !doc.isCRD() {
			continue
		}
		var def struct {
			Spec struct {
				Group string
				Names struct{ Kind string }
			}
		}
		_ = json.Unmarshal(doc.JSON, &def) // if it fails, the kind is empty and LoadCRD returns the error
		kinds = append(kinds, schema.GroupKind{Group: def.Spec.Group, Kind: def.Spec.Names.Kind})
		crds = append(crds, doc)
	}
	return kinds, crds
}

// Go changes the version and the path of the session. An empty argument leaves the setting
// unchanged.
func (s *Session) Go(version, path string) error {
	if version+path != "" && s.state.crd == nil {
		return ErrNoCRD
	}
	var err error
	if version != "" {
		_, err = use(context.Background(), s, version)
	}
	if err == nil && path != "" {
		_, err = cd(context.Background(), s, path)
	}
	return err
}
