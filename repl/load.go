package repl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

func load(_ context.Context, s *Session, arg string) (string, error) {
	if s.host.Load == nil {
		return "", errors.New("there are no files here")
	}
	var c choice
	arg, c.name, _ = strings.Cut(arg, " --name ")
	c.name = strings.TrimSpace(c.name)
	c.file = strings.TrimSpace(arg)
	if first, rest, ok := strings.Cut(arg, " "); ok && slices.Contains(loadable, first) {
		c.what, c.file = first, strings.TrimSpace(rest)
	}
	if c.file == "" {
		return "", errors.New("no file given: want :load [crd|object|old] FILE")
	}
	docs, err := s.host.Load(c.file)
	if err != nil {
		return "", err
	}
	if c.what == "" {
		c.what = "object"
		if len(docs) > 0 && docs[0].isCRD() {
			c.what = "crd"
		}
	}
	if st := s.state; st.crd != nil {
		c.kinds = []schema.GroupKind{st.crd.engine.GroupKind()}
	}
	if s.state.object != nil {
		c.like = identify(s.state.object.doc)
	}
	doc, err := c.from(docs)
	if err != nil {
		return "", err
	}
	switch c.what {
	case "crd":
		if s.Unsaved() {
			return "", errors.New("unsaved rules would be left behind: :save them, or :undo")
		}
		return "", s.LoadCRD(doc)
	case "old":
		return "", s.LoadOld(doc)
	}
	return "", s.LoadObject(doc)
}

// choice says which of a file's documents is meant.
type choice struct {
	what string // "crd", "object" or "old"
	file string
	// name is the one that the user gave; "" is none.
	name string
	// kinds are those that an object may have; none is any.
	kinds []schema.GroupKind
	// like is the object of which an old one is the form before.
	like identity
}

// from chooses: by kind, then by name; an old object by the one that it was. A
// document that is the only one of a file is meant, whatever it is.
func (c *choice) from(docs []Document) (Document, error) {
	var fit []Document
	for _, doc := range docs {
		if doc.isCRD() == (c.what == "crd") {
			fit = append(fit, doc)
		}
	}
	all := fit
	if len(fit) > 1 && c.what != "crd" {
		fit = slices.DeleteFunc(slices.Clone(fit), func(doc Document) bool {
			return len(c.kinds) > 0 && !slices.Contains(c.kinds, identify(doc).kind)
		})
		if len(fit) == 0 {
			return Document{}, fmt.Errorf("%s: %s, none of kind %s", c.file, phrase.Count(len(all), "object"), c.kinds[0].Kind)
		}
	}
	ofKind := fit
	switch {
	case c.name != "":
		fit = slices.DeleteFunc(slices.Clone(fit), func(doc Document) bool { return !identify(doc).called(c.name) })
		if len(fit) == 0 {
			return Document{}, fmt.Errorf("%s: nothing is called %s%s", c.file, c.name, spell.DidYouMean(c.name, Names(ofKind)))
		}
	case len(fit) > 1 && c.what == "old" && c.like != identity{}:
		if i := slices.IndexFunc(fit, func(doc Document) bool { return identify(doc) == c.like }); i >= 0 {
			return fit[i], nil
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	noun, hint := "object", ""
	if c.what == "crd" {
		noun = "CRD"
	}
	if len(fit) > 1 {
		hint = ", or --name NAME: " + termwidth.Cut(strings.Join(Names(fit), ", "), maxValue)
	}
	return Document{}, fmt.Errorf("%s: %s: want one%s", c.file, phrase.Count(len(fit), noun), hint)
}

// Names are the names of objects.
func Names(docs []Document) []string {
	out := make([]string, len(docs))
	for i, doc := range docs {
		out[i] = identify(doc).name
	}
	return out
}

// identity is what tells an object from others.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

// called is true for the object that a name means: NAME, or NAMESPACE/NAME.
func (id identity) called(name string) bool {
	return name == id.name || name == id.namespace+"/"+id.name
}

// identify reads a document no further than it must; what is no object is of no
// kind.
func identify(doc Document) identity {
	var obj struct {
		APIVersion, Kind string
		Metadata         struct{ Name, Namespace string }
	}
	if json.Unmarshal(doc.JSON, &obj) != nil {
		return identity{}
	}
	group, _, versioned := strings.Cut(obj.APIVersion, "/")
	if !versioned {
		group = ""
	}
	if obj.Metadata.Namespace == "" {
		obj.Metadata.Namespace = "default"
	}
	return identity{schema.GroupKind{Group: group, Kind: obj.Kind}, obj.Metadata.Namespace, obj.Metadata.Name}
}
