package repl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// How it works: Open reads all documents once, because standard input cannot be read again. The CRD that
// decides which objects are used may come last, so objects of every kind are kept until then.

const (
	maxKinds           = 1000
	maxDefinitions     = 2000
	maxDefinitionBytes = 256 << 20
)

type sorter struct {
	named    []string         // the paths that the user named
	only     schema.GroupKind // if set, other documents are skipped
	stored   int              // bytes of the objects
	crds     []Document
	policies []Document
	objects  map[schema.GroupKind]*collection
	skipped  skipped
	kept     int // bytes of crds and policies
	params   map[schema.GroupKind]bool
}

// take sorts a document. It fails if a path that the user named cannot be read.
func (o *sorter) take(in *Input) error {
	if in.Err != nil && in.Line == 0 && slices.Contains(o.named, in.File) {
		return fmt.Errorf("%s: %w", in.File, in.Err)
	}
	kind := groupKindOf(in.Object)
	switch {
	case in.Err != nil || in.Ignored || kind.Kind == "":
		o.skipped.skip(in, in.Err)
	case o.only.Kind != "":
		if kind == o.only {
			return o.object(in, kind)
		}
		o.skipped.skip(in, nil)
	case kind.Kind == "CustomResourceDefinition":
		return o.define(in, &o.crds)
	case kind.Group == policyKind.Group:
		return o.definePolicy(in)
	default:
		return o.object(in, kind)
	}
	return nil
}

func (o *sorter) define(in *Input, docs *[]Document) error {
	doc, err := in.Document()
	if err != nil {
		return err
	}
	if o.kept += len(doc.Text) + len(doc.JSON); len(*docs) >= maxDefinitions || o.kept > maxDefinitionBytes {
		return fmt.Errorf("%s: over %d CRDs or policies, or over %d MiB of them: name fewer files", in.File, maxDefinitions, maxDefinitionBytes>>20)
	}
	*docs = append(*docs, doc)
	return nil
}

func (o *sorter) definePolicy(in *Input) error {
	if err := o.define(in, &o.policies); err != nil {
		return err
	}
	at, _ := valuediff.At(in.Object, engine.Step{Name: "spec"}, engine.Step{Name: "paramKind"})
	params, _ := at.(map[string]any)
	if kind := groupKindOf(params); kind.Kind != "" {
		o.params[kind] = true
	}
	return nil
}

func (o *sorter) object(in *Input, kind schema.GroupKind) error {
	of, err := o.objects[kind], error(nil)
	if of == nil && len(o.objects) < maxKinds {
		of = &collection{kind: kind}
		if of.first, err = in.Document(); err == nil {
			o.stored += len(of.first.Text) + len(of.first.JSON)
			o.objects[kind] = of
		}
	}
	if of != nil && err == nil {
		err = of.add(in, &o.stored)
	}
	if of == nil || err != nil && !errors.Is(err, errFull) {
		o.skipped.skip(in, err)
		return nil
	}
	return err
}

func (o *sorter) sortedKinds() []schema.GroupKind {
	kinds := slices.Collect(maps.Keys(o.objects))
	slices.SortFunc(kinds, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// Open loads in, and sorts the documents in the files and folders of in.Paths by content: CRDs, objects, and policies
// with their params. If in has no object, it loads the first CRD that has objects, makes the first object, or the
// object in.Name, current, and reads old versions from in.OldPath. Otherwise, it works like Start. Several objects form
// the collection. loaded describes the result. many is set if there is a collection. Open cannot be undone.
func (s *Session) Open(ctx context.Context, in Inputs) (loaded string, many bool, err error) {
	if s.host.Read == nil {
		return "", false, errNoFiles
	}
	o := &sorter{named: in.Paths, objects: map[schema.GroupKind]*collection{}, params: map[schema.GroupKind]bool{}}
	if err := s.host.Read(ctx, in.Paths, o.take); err != nil {
		return "", false, err
	}
	s.crds = withBuiltin(slices.Concat(in.CRDs, o.crds), o.candidates(in.Objects))
	if len(s.crds) == 0 {
		return "", false, o.noCRD(in.Paths)
	}
	if len(in.Objects) > 0 || in.ObjectPath != "" {
		paths := in.Paths
		if in.CRDPath != "" {
			paths = slices.Concat([]string{in.CRDPath}, paths)
		}
		in.CRDs, in.CRDPath = s.crds, strings.Join(paths, ", ")
		if err := s.Start(in); err != nil {
			return "", false, err
		}
		s.collect(o)
	} else if err := s.openObjects(ctx, in, o); err != nil {
		return "", false, err
	}
	notes, err := s.openPolicies(o)
	if err != nil {
		return "", false, err
	}
	s.past = nil
	return notes + printable(s.openedText(o)) + "\n", s.many() != nil, nil
}

// candidates returns the kinds of objects for withBuiltin. Among the kinds that were read, those that policies refer to
// come last.
func (o *sorter) candidates(named []Document) (kinds []schema.GroupKind) {
	kinds = kindsOf(named)
	var read []schema.GroupKind
	for _, kind := range o.sortedKinds() {
		if len(o.policies) > 0 && o.refersTo(kind) {
			read = append(read, kind)
		} else {
			kinds = append(kinds, kind)
		}
	}
	return append(kinds, read...)
}

func (o *sorter) noCRD(paths []string) error {
	text := "no CustomResourceDefinition in " + strings.Join(paths, ", ")
	if o.skipped.unreadable > 0 {
		return fmt.Errorf("%s: %s", text, o.skipped.text())
	}
	var kinds []string
	for _, kind := range o.sortedKinds() {
		kinds = append(kinds, counted(len(o.objects[kind].objects), "object")+" of "+shortened(kind.Kind))
	}
	if len(kinds) == 0 {
		return errors.New(text)
	}
	return fmt.Errorf("%s: it holds %s: add the file of the CRD, or use --crd PATH", text, listed(kinds, maxNames))
}

func (s *Session) keepOlds(in Inputs) {
	c := &collection{kind: s.state.crd.kind()}
	for _, doc := range in.Olds {
		if id := identify(doc); id.kind == c.kind {
			c.objects = append(c.objects, storedObject{id, doc.File, doc.Line, doc.JSON})
		}
	}
	if len(c.objects) > 1 {
		s.olds = c.asOlds()
	}
}

func (s *Session) openObjects(ctx context.Context, in Inputs, o *sorter) error {
	kinds, crds := Definitions(s.crds)
	chosen := max(0, slices.IndexFunc(kinds, func(kind schema.GroupKind) bool { return o.objects[kind] != nil }))
	if err := s.LoadCRD(crds[chosen]); err != nil {
		return err
	}
	if in.OldPath != "" {
		if err := s.LoadOlds(ctx, in.OldPath); err != nil {
			return fmt.Errorf("--old: %w", err)
		}
	}
	s.collect(o)
	of := o.objects[s.state.crd.kind()]
	if of == nil {
		if in.Name != "" {
			return fmt.Errorf("--name %s: there are no objects of kind %s", in.Name, s.state.crd.kind().Kind)
		}
		return nil
	}
	first := 0
	if in.Name != "" {
		found := of.find(in.Name)
		if len(found) == 0 {
			return fmt.Errorf("--name: %w", of.notFound(in.Name))
		}
		first = found[0]
	}
	if err := s.current(of, first); err != nil && (first > 0 || len(of.objects) == 1) {
		return err
	}
	return nil // if there are several objects, the others can be used
}

func (s *Session) collect(o *sorter) {
	if of := o.objects[s.state.crd.kind()]; of != nil && len(of.objects) > 1 {
		s.collection = of
	}
}

func (s *Session) openPolicies(o *sorter) (string, error) {
	if !slices.ContainsFunc(o.policies, func(doc Document) bool { return strings.HasSuffix(doc.Kind(), "AdmissionPolicy") }) {
		o.skipped.others += len(o.policies) // such as webhook configurations
		o.policies = nil
		return "", nil
	}
	docs := slices.Clone(o.policies)
	for _, kind := range o.sortedKinds() {
		if !o.refersTo(kind) {
			continue
		}
		of := o.objects[kind]
		for i := range of.objects {
			doc, err := of.objects[i].document(true)
			if err != nil {
				return "", err
			}
			docs = append(docs, doc)
		}
	}
	problems, err := s.LoadPolicies(docs)
	if err != nil {
		problems = append(problems, fmt.Sprintf("the policies are not loaded: %v", err))
	}
	return notes(problems), nil
}

func (o *sorter) refersTo(kind schema.GroupKind) bool {
	return kind.Group == "rbac.authorization.k8s.io" || kind == (schema.GroupKind{Kind: "Namespace"}) || o.params[kind]
}

func (s *Session) openedText(o *sorter) string {
	c := s.state.crd
	parts := []string{fmt.Sprintf("%s from %s", c.kind().Kind, c.doc.File)}
	if of := o.objects[c.kind()]; of != nil {
		text, current := counted(len(of.objects), "object"), ""
		if len(of.objects) > 1 {
			current = " is current"
		}
		if s.state.object != nil {
			text += fmt.Sprintf(" (%s%s)", shortened(identify(s.state.object.doc).name), current)
		}
		parts = append(parts, text)
	}
	if s.olds != nil {
		parts = append(parts, counted(len(s.olds.objects), "old object"))
	}
	if n := len(s.state.policies.names()); n > 0 {
		parts = append(parts, policyCount(n))
	}
	text := strings.Join(parts, ", ")
	rest := o.rest(c.kind())
	if unused := rest.text(); unused != "" {
		text += "; not used: " + unused
	}
	if len(s.crds) > 1 {
		text += "\n" + s.definedText()
	}
	return text
}

// rest counts the documents that are not used if objects of a kind are.
func (o *sorter) rest(kind schema.GroupKind) skipped {
	rest := o.skipped
	for _, other := range o.sortedKinds() {
		if of := o.objects[other]; other != kind && (len(o.policies) == 0 || !o.refersTo(other)) {
			if rest.others == 0 {
				rest.other = " (" + shortened(of.first.File+": "+other.String()) + ")"
			}
			rest.others += len(of.objects)
		}
	}
	return rest
}

func (s *Session) definedText() string {
	kinds, _ := Definitions(s.crds)
	var names []string
	for _, kind := range kinds {
		names = append(names, shortened(kind.Kind))
	}
	return fmt.Sprintf("%s: %s; :load crd KIND loads another", phrase.Count(len(kinds), "CRD"), listed(names, 2*maxNames))
}

func (s *Session) crdNamed(name string) (Document, bool) {
	kinds, docs := Definitions(s.crds)
	for i, kind := range kinds {
		if kind.Kind == name || kind.String() == name || identify(docs[i]).name == name {
			return docs[i], true
		}
	}
	return Document{}, false
}
