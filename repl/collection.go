package repl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// How it works: a session can hold several objects of the CRD's kind besides the current object. Open reads
// them. They are kept as JSON and decoded again for each use, and :undo does not change them.

// A collection holds objects of one kind, in the order in which they were read.
// It is immutable once they are read.
type collection struct {
	kind    schema.GroupKind
	objects []storedObject
	// first is the first object with its source. Its JSON is nil if the source is unknown.
	first Document
	// byName maps identities to indexes. It is nil except for old versions.
	byName map[identity]int
}

type storedObject struct {
	identity
	file string
	line int // 0 if it is unknown
	json []byte
}

const (
	// maxStored limits the memory of objects, in bytes.
	maxStored = 1 << 30
	// storedOverhead is the approximate memory of an object besides its JSON and its name.
	storedOverhead = 256
)

var errFull = fmt.Errorf("too many objects: they would take over %d GiB of memory: name fewer files", maxStored>>30)

// add adds an object, and its size in bytes to used. It returns errFull if used exceeds maxStored.
func (c *collection) add(in *Input, used *int) error {
	data, err := json.Marshal(in.Object)
	if err != nil {
		return err
	}
	o := storedObject{identityOf(in.Object), in.File, in.Line, data}
	if *used += len(o.json) + len(o.namespace) + len(o.name) + storedOverhead; *used > maxStored {
		return errFull
	}
	c.objects = append(c.objects, o)
	return nil
}

func (c *collection) asOlds() *collection {
	c.byName = make(map[identity]int, len(c.objects))
	for i, o := range slices.Backward(c.objects) { // the first of several counts
		c.byName[o.identity] = i
	}
	return c
}

func (c *collection) of(id identity) *storedObject {
	if c == nil {
		return nil
	}
	if i, ok := c.byName[id]; ok {
		return &c.objects[i]
	}
	return nil
}

type skipped struct {
	others, unreadable, ignored int
	// other and broken are the first examples, in parentheses after a space.
	other, broken string
}

func (k *skipped) text() string {
	var parts []string
	for _, part := range []struct {
		n    int
		text string
	}{{k.others, " of other kinds" + k.other}, {k.unreadable, " unreadable" + k.broken}, {k.ignored, " ignored"}} {
		if part.n > 0 {
			parts = append(parts, count(part.n)+part.text)
		}
	}
	return strings.Join(parts, ", ")
}

func count(n int) string { return phrase.Number(uint64(n)) }

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

func listed(names []string, most int) string {
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return strings.Join(names, ", ")
}

// skip counts a document that is not used. err is the reason if it cannot be read, and nil otherwise.
func (k *skipped) skip(in *Input, err error) {
	n, example, reason := &k.others, &k.other, cmp.Or(groupKindOf(in.Object).String(), "no kind")
	switch {
	case in.Ignored:
		k.ignored++
		return
	case err != nil:
		n, example, reason = &k.unreadable, &k.broken, err.Error()
	}
	if *n++; *n == 1 {
		*example = " (" + termwidth.Cut(oneLine(fileLine(in.File, in.Line)+": "+reason), maxColumn) + ")"
	}
}

const (
	maxNames    = 3
	maxRows     = 100
	maxCompared = 10_000
)

func (o *storedObject) value() (map[string]any, error) { return engine.Decode(o.json) }

func (o *storedObject) at() string { return fileLine(o.file, o.line) }

func fileLine(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

func (o *storedObject) shown(namespaced bool) string {
	name := cmp.Or(o.name, o.at())
	if namespaced {
		name = o.namespace + "/" + name
	}
	return shortened(name)
}

func (o *storedObject) document(namespaced bool) (Document, error) {
	value, err := o.value()
	if err != nil {
		return Document{}, err
	}
	return generated(fmt.Sprintf("%s (%s)", o.file, o.shown(namespaced)), value)
}

func (c *collection) find(name string) (found []int) {
	for i := range c.objects {
		if c.objects[i].called(name) {
			found = append(found, i)
		}
	}
	return found
}

func (c *collection) notFound(name string) error {
	var names []string
	for i := range c.objects[:min(len(c.objects), maxCompared)] {
		names = append(names, c.objects[i].name)
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	return fmt.Errorf("no object is named %s%s", shortened(name), spell.DidYouMean(base, names))
}

func (s *Session) ofKind(c *collection) *collection {
	if c != nil && s.state.crd != nil && c.kind == s.state.crd.kind() {
		return c
	}
	return nil
}

func (s *Session) many() *collection { return s.ofKind(s.collection) }

var errNoCollection = errors.New("the shell was not started with several objects of the kind: run celadon repl PATH…")

func (s *Session) needMany() (*collection, error) {
	if c := s.many(); c != nil {
		return c, nil
	}
	return nil, errNoCollection
}

// LoadOlds reads the old versions of the objects of the CRD's kind from a file or folder.
func (s *Session) LoadOlds(ctx context.Context, path string) error {
	switch {
	case s.state.crd == nil:
		return ErrNoCRD
	case s.host.Read == nil:
		return errNoFiles
	}
	kind := s.state.crd.kind()
	o := &sorter{named: []string{path}, only: kind, objects: map[schema.GroupKind]*collection{}}
	err := s.host.Read(ctx, o.named, o.take)
	switch {
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case err != nil:
		return err
	case o.objects[kind] != nil:
		s.olds = o.objects[kind].asOlds()
		return nil
	}
	text := fmt.Sprintf("%s: no object of kind %s", path, kind.Kind)
	if rest := o.skipped.text(); rest != "" {
		text += "; " + rest
	}
	return errors.New(text)
}

var errInterrupted = errors.New("interrupted")

// OldOf returns the old version of an object, by its kind, namespace, and name, or nil.
func (s *Session) OldOf(object map[string]any) map[string]any {
	o := s.ofKind(s.olds).of(identityOf(object))
	if o == nil {
		return nil
	}
	value, _ := o.value() // it was decoded before
	return value
}

// current makes object i of the collection the session's object.
func (s *Session) current(c *collection, i int) error {
	next := *s.state
	var err error
	if next.object, err = s.loaded(&c.objects[i]); err != nil {
		return err
	}
	if i == 0 && c.first.JSON != nil {
		next.object.doc = c.first
	}
	next.version = ""
	if olds := s.ofKind(s.olds); olds != nil {
		old := olds.of(c.objects[i].identity)
		if old == nil && len(olds.objects) == 1 && len(c.objects) == 1 { // their names may differ
			old = &olds.objects[0]
		}
		if next.old = nil; old != nil {
			if next.old, err = s.loaded(old); err != nil {
				return err
			}
		}
	} else if next.old != nil && identify(next.old.doc) != c.objects[i].identity {
		next.old = nil
	}
	s.statusNoted = false
	return s.commit(&next, next.steps)
}

func (s *Session) loaded(o *storedObject) (*object, error) {
	doc, err := o.document(s.state.crd.engine.Info().Namespaced)
	if err != nil {
		return nil, err
	}
	out, err := newObject(doc)
	if err == nil {
		out.file = o.file
	}
	return out, err
}

func shortened(text string) string { return termwidth.Cut(oneLine(text), maxValue) }

func oneLine(text string) string { return printable(lex.OneLine(text[:min(len(text), maxLineBytes)])) }

const (
	maxLineBytes = 4 << 10
	maxColumn    = 200
)
