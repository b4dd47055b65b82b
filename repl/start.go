package repl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Inputs are the documents that a session begins with.
type Inputs struct {
	CRDs, Objects, Olds          []Document
	CRDPath, ObjectPath, OldPath string
}

// Start loads a session's first CRD and objects: the CRD of the object's kind,
// or the only one. What it loads cannot be undone.
func (s *Session) Start(in Inputs) error {
	if in.CRDPath == "" {
		return nil
	}
	var obj, old *Document
	if in.ObjectPath != "" {
		doc, err := s.pick(in.Objects, "object", in.ObjectPath)
		if err != nil {
			return err
		}
		obj = &doc
	}
	crd, err := chooseCRD(in, obj)
	if err != nil {
		return err
	}
	if err := s.LoadCRD(crd); err != nil {
		return err
	}
	if obj != nil {
		if err := s.LoadObject(*obj); err != nil {
			return err
		}
	}
	if in.OldPath != "" {
		doc, err := s.pick(in.Olds, "old", in.OldPath)
		if err != nil {
			return err
		}
		old = &doc
		if err := s.LoadOld(*old); err != nil {
			return err
		}
	}
	s.past = nil
	return nil
}

func chooseCRD(in Inputs, obj *Document) (Document, error) {
	var crds []Document
	for _, doc := range in.CRDs {
		if doc.isCRD() {
			crds = append(crds, doc)
		}
	}
	if len(crds) == 0 {
		return Document{}, fmt.Errorf("no CustomResourceDefinition in %s", in.CRDPath)
	}
	if obj == nil {
		if len(crds) > 1 {
			return Document{}, fmt.Errorf("%s: %s: want one, or --object FILE to choose", in.CRDPath, count(len(crds), "CRD"))
		}
		return crds[0], nil
	}
	group, kind, err := groupKind(*obj)
	if err != nil {
		return Document{}, err
	}
	for _, doc := range crds {
		var def struct {
			Spec struct {
				Group string
				Names struct{ Kind string }
			}
		}
		if json.Unmarshal(doc.JSON, &def) == nil && def.Spec.Group == group && def.Spec.Names.Kind == kind {
			return doc, nil
		}
	}
	return Document{}, fmt.Errorf("no CRD given for the object's %s", strings.TrimSuffix(kind+"."+group, "."))
}

func groupKind(doc Document) (group, kind string, err error) {
	var meta struct{ APIVersion, Kind string }
	if json.Unmarshal(doc.JSON, &meta) != nil {
		return "", "", errors.New(doc.File + ": not a Kubernetes object")
	}
	group, _, versioned := strings.Cut(meta.APIVersion, "/")
	if !versioned {
		group = ""
	}
	return group, meta.Kind, nil
}

// Go moves the session to a version of the CRD and a place in it; "" leaves
// either as it is.
func (s *Session) Go(version, path string) error {
	if version != "" {
		if _, err := use(context.Background(), s, version); err != nil {
			return err
		}
	}
	if path == "" {
		return nil
	}
	_, err := cd(context.Background(), s, path)
	return err
}
