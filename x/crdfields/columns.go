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

// How it works. For kubectl get, the server returns a table whose cells it computes. This is
// k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor with an explicit clock. The original
// reads the time of day and depends on most of the API server. TestColumnsOnServer in conformance compares both.

// Columns holds the columns of a CRD version. It is safe for concurrent use.
type Columns struct {
	defs []apiextensionsv1.CustomResourceColumnDefinition

	mu    sync.Mutex // a JSONPath has state while it is evaluated
	paths []*jsonpath.JSONPath
}

// maxColumns limits how often parts of an object are repeated in the output.
const maxColumns = 64

// ColumnsOf returns the columns of v after the name column. A version without columns has its age. The error is for a
// path that cannot be parsed, or for too many columns; the columns before it are returned, as in a server.
func ColumnsOf(v *apiextensionsv1.CustomResourceDefinitionVersion) (*Columns, error) {
	defs := v.AdditionalPrinterColumns
	if len(defs) == 0 {
		defs = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}}
	}
	c := &Columns{}
	for i, d := range defs {
		if i == maxColumns {
			return c, fmt.Errorf("additionalPrinterColumns: too many (got %d, want at most %d)", len(defs), maxColumns)
		}
		p, err := parse(d.Name, d.JSONPath)
		if err != nil {
			return c, err
		}
		c.defs, c.paths = append(c.defs, d), append(c.paths, p)
	}
	return c, nil
}

// Names returns the names of the columns. Kubectl prints them in upper case.
func (c *Columns) Names() []string {
	names := make([]string, len(c.defs))
	for i, d := range c.defs {
		names[i] = d.Name
	}
	return names
}

// Cells returns the strings, numbers, and booleans of an object, or nil for a column without a value of its type.
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

// age returns the time since a timestamp in the format of kubectl.
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
