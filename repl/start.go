package repl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// Inputs holds the documents that a session starts with.
type Inputs struct {
	CRDs, Objects, Olds          []Document
	CRDPath, ObjectPath, OldPath string
	// Name selects among several objects of a kind, as NAME or NAMESPACE/NAME.
	Name string
	// Paths are files and folders whose documents Open sorts by content.
	Paths []string
}

// Start loads the session's first CRD and objects. If in has several, it selects the object whose
// kind a CRD defines, and the CRD that defines the object's kind. Objects of built-in kinds need no CRD; for others, the error
// is ErrNoCRD if none is given. Start cannot be undone.
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

// startOld loads the old version of the object, and keeps several old objects for :object.
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
