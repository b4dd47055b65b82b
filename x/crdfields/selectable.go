package crdfields

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/jsonpath"

	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// Selectable holds the fields that a field selector can name for a version of a CRD. It is safe for concurrent use.
type Selectable struct {
	namespaced bool
	names      []string

	mu    sync.Mutex // a JSONPath has state while it is evaluated
	paths []*jsonpath.JSONPath
}

// maxSelectable is the server's limit on the selectable fields of a version.
const maxSelectable = 8

// SelectableOf returns the selectable fields of a version: those that it declares, the name of the
// object, and its namespace if namespaced is set.
func SelectableOf(v *apiextensionsv1.CustomResourceDefinitionVersion, namespaced bool) (*Selectable, error) {
	if n := len(v.SelectableFields); n > maxSelectable {
		return nil, fmt.Errorf("selectableFields: too many (got %d, want at most %d)", n, maxSelectable)
	}
	s := &Selectable{namespaced: namespaced}
	for _, f := range v.SelectableFields {
		p, err := parse("selectableField", f.JSONPath)
		if err != nil {
			return nil, err
		}
		s.names, s.paths = append(s.names, strings.TrimPrefix(f.JSONPath, ".")), append(s.paths, p)
	}
	return s, nil
}

const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// Check returns the server's error, with the selectable fields, if a selector uses another field.
func (s *Selectable) Check(selector fields.Selector) error {
	for _, r := range selector.Requirements() {
		if r.Field != nameField && !(s.namespaced && r.Field == namespaceField) && !slices.Contains(s.names, r.Field) {
			known := []string{nameField}
			if s.namespaced {
				known = append(known, namespaceField)
			}
			return fmt.Errorf("field label not supported: %s: want %s", r.Field, phrase.Or(append(known, s.names...)))
		}
	}
	return nil
}

// Values returns the declared fields of an object by name. The value of a missing field is "".
func (s *Selectable) Values(obj map[string]any) (fields.Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := fields.Set{}
	for i, p := range s.paths {
		results, err := p.FindResults(obj)
		if err != nil {
			return nil, fmt.Errorf("selectable field %s: %w", s.names[i], err)
		}
		value, ok := first(results)
		if ok && (len(results) > 1 || len(results[0]) > 1) {
			return nil, fmt.Errorf("selectable field %s: %w", s.names[i], errSeveral)
		}
		set[s.names[i]] = ""
		if value != nil {
			set[s.names[i]] = fmt.Sprint(value)
		}
	}
	return set, nil
}

var errSeveral = errors.New("the object has more than one value there")

// Matches reports whether a selector that passed Check selects an object with this name and namespace.
func (s *Selectable) Matches(selector fields.Selector, obj map[string]any, namespace, name string) (bool, error) {
	set, err := s.Values(obj)
	if err != nil {
		return false, err
	}
	set[nameField] = name
	if s.namespaced {
		set[namespaceField] = namespace
	}
	return selector.Matches(set), nil
}
