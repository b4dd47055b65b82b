package repl

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/repl/internal/objectstore"
)

// How it works: a session can hold a collection of objects besides the current object. The objects are
// in a compact form (internal/objectstore), and each use decodes and prepares them again, on all cores
// (sweep.go), because they would not fit into memory otherwise. :objects replaces the collection, and
// :undo does not bring it back.

// A collection holds objects of one kind. It is immutable, except for cached results.
type collection struct {
	kind    schema.GroupKind
	sources []string
	// paths are the files and folders that it was read from, or nil if it was read from a cluster.
	paths []string
	store *objectstore.Store
	// namespaces and versions count the objects. Their number is limited.
	namespaces, versions map[string]int
	skipped              skipped
	// files caches the files of the objects, for :watch.
	files []string
	// counts caches the results of rules.
	counts map[ruleKey]*ruleCount
	// verdicts is the cached result of validating all objects.
	verdicts *acceptance
}

// maxGroups limits the namespaces and the versions that are counted.
const maxGroups = 10_000

func newCollection(kind schema.GroupKind, sources []string, table *objectstore.Table) *collection {
	return &collection{
		kind: kind, sources: sources, paths: sources, store: objectstore.New(table),
		namespaces: map[string]int{}, versions: map[string]int{}, counts: map[ruleKey]*ruleCount{},
	}
}

// add adds an object. It returns an error if the object cannot be stored.
func (c *collection) add(in *Input) error {
	h := headOf(in)
	if err := c.store.Add(h, in.Object); err != nil {
		return err
	}
	apiVersion, _ := in.Object["apiVersion"].(string)
	countGroup(c.versions, versionOf(apiVersion))
	countGroup(c.namespaces, namespaceOf(h))
	return nil
}

func countGroup(groups map[string]int, name string) {
	if _, known := groups[name]; known || len(groups) < maxGroups {
		groups[name]++
	}
}

// headOf returns the identity of an object. An object without a name has its generateName.
func headOf(in *Input) objectstore.Head {
	meta, _ := in.Object["metadata"].(map[string]any)
	h := objectstore.Head{File: in.File, Line: in.Line}
	h.Namespace, _ = meta["namespace"].(string)
	if h.Name, _ = meta["name"].(string); h.Name == "" {
		h.Name, _ = meta["generateName"].(string)
	}
	return h
}

// namespaceOf returns the namespace of an object. An object without one is in the namespace default.
func namespaceOf(h objectstore.Head) string {
	if h.Namespace == "" {
		return "default"
	}
	return h.Namespace
}

func versionOf(apiVersion string) string {
	return apiVersion[strings.LastIndexByte(apiVersion, '/')+1:]
}

// groupKindOf returns the group and kind of an object, or a zero value if it has none.
func groupKindOf(object map[string]any) schema.GroupKind {
	kind, _ := object["kind"].(string)
	apiVersion, _ := object["apiVersion"].(string)
	group, _, versioned := strings.Cut(apiVersion, "/")
	if !versioned {
		group = ""
	}
	return schema.GroupKind{Group: group, Kind: kind}
}

// skipped counts the documents that are not in a collection.
type skipped struct {
	others, unreadable, ignored int
	// other and broken are the first examples.
	other, broken string
}

func (k *skipped) text() string {
	var parts []string
	for _, part := range []struct {
		n            int
		noun, sample string
	}{{k.others, "of other kinds", k.other}, {k.unreadable, "unreadable", k.broken}, {k.ignored, "ignored", ""}} {
		if part.n == 0 {
			continue
		}
		text := count(part.n) + " " + part.noun
		if part.sample != "" {
			text += " (" + part.sample + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// count formats a number with thousands separators.
func count(n int) string { return phrase.Number(uint64(n)) }

// counted formats a number of things. noun is in the singular.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// skip counts a document that is not of the collection's kind, or that cannot be read.
func (k *skipped) skip(in *Input, err error) {
	at := in.File
	if in.Line > 0 {
		at = fmt.Sprintf("%s:%d", in.File, in.Line)
	}
	switch gk := groupKindOf(in.Object); {
	case in.Ignored:
		k.ignored++
	case err != nil:
		if k.unreadable++; k.unreadable == 1 {
			k.broken = cutText(at + ": " + err.Error())
		}
	default:
		if k.others++; k.others == 1 {
			k.other = cutText(at + ": " + cmp.Or(gk.String(), "no kind"))
		}
	}
}

// maxNames limits the names in a list of objects, and maxRows the rows of a table of objects.
const (
	maxNames = 3
	maxRows  = 100
)

// name returns the name of object i for messages: NAMESPACE/NAME, or NAME if the kind is not namespaced.
func (c *collection) name(i int, namespaced bool) string {
	h := c.store.Head(i)
	name := h.Name
	if name == "" {
		name = fmt.Sprintf("%s:%d", h.File, h.Line)
	}
	if namespaced {
		name = namespaceOf(h) + "/" + name
	}
	return shortened(name)
}

// names returns the first names of n objects.
func (s *Session) names(c *collection, objects []int32, n int) string {
	var out []string
	namespaced := s.state.crd.engine.Info().Namespaced
	for _, i := range objects[:min(len(objects), maxNames)] {
		out = append(out, c.name(int(i), namespaced))
	}
	if n > len(out) {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// find returns the objects with a name, given as NAME or NAMESPACE/NAME. It returns at most limit.
func (c *collection) find(name string, limit int) (found []int) {
	namespace, base, qualified := strings.Cut(name, "/")
	for i := range c.store.Len() {
		h := c.store.Head(i)
		if h.Name == name || qualified && h.Name == base && namespaceOf(h) == namespace {
			if found = append(found, i); len(found) == limit {
				break
			}
		}
	}
	return found
}

// identityOf returns the identity of an object of a collection, which its old version has, too.
func identityOf(h objectstore.Head) [2]string { return [2]string{namespaceOf(h), h.Name} }

// many returns the collection if it has the kind of the CRD, or nil.
func (s *Session) many() *collection {
	if c := s.collection; c != nil && s.state.crd != nil && c.kind == s.state.crd.engine.Info().GroupKind {
		return c
	}
	return nil
}

var errNoCollection = errors.New("no objects are loaded: run :objects PATH")

// needMany returns the collection, or an error if there is none.
func (s *Session) needMany() (*collection, error) {
	if s.state.crd == nil {
		return nil, ErrNoCRD
	}
	if c := s.many(); c != nil {
		return c, nil
	}
	return nil, errNoCollection
}

// oldVersions holds the old versions of objects by identity.
type oldVersions struct {
	*collection
	byName map[[2]string]int
}

// knownOlds returns the old versions if they have the kind of the CRD, or nil.
func (s *Session) knownOlds() *oldVersions {
	if o := s.olds; o != nil && s.state.crd != nil && o.kind == s.state.crd.engine.Info().GroupKind {
		return o
	}
	return nil
}

func newOldVersions(c *collection) *oldVersions {
	o := &oldVersions{c, make(map[[2]string]int, c.store.Len())}
	for i := range c.store.Len() {
		if id := identityOf(c.store.Head(i)); !o.has(id) {
			o.byName[id] = i
		}
	}
	return o
}

func (o *oldVersions) has(id [2]string) bool {
	_, ok := o.byName[id]
	return ok
}

// of returns the old version of an object, or nil.
func (o *oldVersions) of(h objectstore.Head) map[string]any {
	if o == nil {
		return nil
	}
	i, ok := o.byName[identityOf(h)]
	if !ok {
		return nil
	}
	return o.store.Object(i)
}

// notFound returns the error for a name that no object of the collection has.
func (c *collection) notFound(name string) error {
	var names []string
	for i := range min(c.store.Len(), maxGroups) {
		names = append(names, c.store.Head(i).Name)
	}
	_, base, qualified := strings.Cut(name, "/")
	if !qualified {
		base = name
	}
	return fmt.Errorf("no object is named %s%s", shortened(name), spell.DidYouMean(base, names))
}

// groupText lists the largest groups, such as "default (3), prod (1)".
func groupText(groups map[string]int) string {
	names := slices.Collect(maps.Keys(groups))
	slices.SortFunc(names, func(a, b string) int {
		if groups[a] != groups[b] {
			return groups[b] - groups[a]
		}
		return strings.Compare(a, b)
	})
	var out []string
	for i, name := range names {
		if i == 2*maxNames {
			out = append(out, "…")
			break
		}
		out = append(out, fmt.Sprintf("%s (%s)", shortened(name), count(groups[name])))
	}
	return strings.Join(out, ", ")
}

// document returns object i as a document with generated text.
func (c *collection) document(i int, namespaced bool) (Document, error) {
	doc, err := foundDocument(c.store.Object(i))
	doc.File = fmt.Sprintf("%s (%s)", c.store.Head(i).File, c.name(i, namespaced))
	return doc, err
}

// current makes object i of the collection the session's object, with its old version, if it is known.
func (s *Session) current(c *collection, i int) error {
	namespaced := s.state.crd.engine.Info().Namespaced
	next := *s.state
	doc, err := c.document(i, namespaced)
	if err == nil {
		next.object, err = newObject(doc)
	}
	if err != nil {
		return err
	}
	head := c.store.Head(i)
	next.object.file, next.version = head.File, ""
	if olds := s.knownOlds(); olds != nil {
		next.old = nil
		if old, ok := olds.byName[identityOf(head)]; ok {
			if doc, err = olds.document(old, namespaced); err == nil {
				next.old, err = newObject(doc)
			}
			if err != nil {
				return err
			}
			next.old.file = olds.store.Head(old).File
		}
	} else if next.old != nil && identify(next.old.doc) != identify(doc) {
		next.old = nil
	}
	s.statusNoted = false
	return s.commit(&next, next.steps)
}

// write returns the write of an object as the session evaluates it.
func (st *state) write(object, old map[string]any) engine.Request {
	req := engine.Request{Object: object, OldObject: old, Subresource: st.subresource}
	if old == nil && st.subresource != "" {
		req.OldObject = object
	}
	return req
}

// shortened returns text on one line, printable and short.
func shortened(text string) string {
	if len(text) > maxNameBytes {
		text = text[:maxNameBytes]
	}
	return termwidth.Cut(printable(lex.OneLine(text)), maxValue)
}

// maxNameBytes limits the bytes of a name that are shortened.
const maxNameBytes = 4 << 10
