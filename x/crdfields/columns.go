package crdfields

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/util/jsonpath"
)

// How it works: the server answers kubectl get with a table, and computes its
// cells. This is k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor
// with a clock: the server's own reads the time of day, and brings the whole of
// a server with it. TestColumns in conformance holds both equal.

// Columns are those of one version of a CRD. It is safe for concurrent use.
type Columns struct {
	defs []apiextensionsv1.CustomResourceColumnDefinition

	mu    sync.Mutex // a path keeps where it is
	paths []*jsonpath.JSONPath
}

// maxColumns bounds how much of an object is shown again and again.
const maxColumns = 64

// ColumnsOf are the columns behind the name; a version that declares none has its
// age. The error is of a path that cannot be read, or of too many: the columns before
// it are there, as in a server.
func ColumnsOf(v *apiextensionsv1.CustomResourceDefinitionVersion) (*Columns, error) {
	defs := v.AdditionalPrinterColumns
	if len(defs) == 0 {
		defs = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}}
	}
	c := &Columns{}
	for i, d := range defs {
		if i == maxColumns {
			return c, fmt.Errorf("additionalPrinterColumns: %d of them: want no more than %d", len(defs), maxColumns)
		}
		p, err := parse(d.Name, d.JSONPath)
		if err != nil {
			return c, err
		}
		c.defs, c.paths = append(c.defs, d), append(c.paths, p)
	}
	return c, nil
}

// Names are the columns' names; kubectl writes them in capitals.
func (c *Columns) Names() []string {
	names := make([]string, len(c.defs))
	for i, d := range c.defs {
		names[i] = d.Name
	}
	return names
}

// Cells are the values of an object: texts, numbers and booleans; nil where there
// is none of the column's type.
func (c *Columns) Cells(obj map[string]any, now time.Time) []any {
	c.mu.Lock()
	defer c.mu.Unlock()
	cells := make([]any, len(c.defs))
	var text bytes.Buffer
	for i, p := range c.paths {
		results, err := p.FindResults(obj)
		if err != nil {
			continue
		}
		value, ok := first(results)
		switch {
		case !ok:
		case c.defs[i].Type != "string":
			cells[i] = cell(c.defs[i].Type, value, now)
		case p.PrintResults(&text, []reflect.Value{reflect.ValueOf(value)}) == nil:
			cells[i] = text.String()
			text.Reset()
		}
	}
	return cells
}

// cell is a value that is no text by its type.
func cell(kind string, value any, now time.Time) any {
	switch kind {
	case "integer":
		switch value := value.(type) {
		case int64:
			return value
		case float64:
			return int64(value)
		}
	case "number":
		switch value := value.(type) {
		case int64:
			return float64(value)
		case float64:
			return value
		}
	case "boolean":
		if b, ok := value.(bool); ok {
			return b
		}
	case "date":
		if text, ok := value.(string); ok {
			return age(text, now)
		}
	}
	return nil
}

// age is how long ago a time is, as kubectl writes it.
func age(text string, now time.Time) string {
	var t metav1.Time
	switch err := t.UnmarshalQueryParameter(text); {
	case err != nil:
		return "<invalid>"
	case t.IsZero():
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}
