package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/crdfields"
)

// asTable is an Accept header for tables, as kubectl get requests them.
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// SweepColumns writes objects of the cases to etcd, and compares the printer columns that Celadon
// computes with the server's tables.
func (s *Server) SweepColumns(ctx context.Context, all []*Group, report *Report) {
	each(crdsAtOnce, chains(all), func(chain []*Group) {
		for _, g := range chain {
			s.sweepColumns(ctx, g, report)
		}
	})
}

func (s *Server) sweepColumns(ctx context.Context, g *Group, report *Report) {
	r, err := s.Serve(ctx, g.CRD.Definition)
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		if r, err = s.serveStored(ctx, g.CRD.Definition); err != nil {
			report.Note("CRDs that the server cannot serve")
			return
		}
	}
	if err != nil {
		report.Error(g.CRD.Path, err)
		return
	}
	each(objectsAtOnce, numbered(g.Cases), func(n int) {
		r.columnsOf(ctx, g.Cases[n], fmt.Sprintf("case-%d", n), report)
	})
	if err := r.Remove(ctx); err != nil {
		report.Error(g.CRD.variant(), fmt.Errorf("remove the CRD: %w", err))
	}
}

func (r *Resource) columnsOf(ctx context.Context, c *Case, namespace string, report *Report) {
	name := nameOf(c.Object)
	if !r.namespaced() {
		namespace = ""
	}
	if name == "" || c.Raw != nil {
		return
	}
	defer r.lock(namespace, name)()
	object := inNamespace(c.Object, namespace)
	// An age that is far from the next unit, so that small clock differences do not matter.
	setDefault(object, "creationTimestamp", time.Now().Add(-(400*24+12)*time.Hour).UTC().Format(time.RFC3339))
	if err := r.put(ctx, namespace, name, object); err != nil {
		report.Error(c.ID, err)
		return
	}
	defer func() { _ = r.forget(context.WithoutCancel(ctx), namespace, name) }()
	for i := range r.crd.Spec.Versions {
		v := &r.crd.Spec.Versions[i]
		if !v.Served {
			continue
		}
		out, err := r.compareTable(ctx, v, namespace, name)
		switch {
		case err != nil:
			report.Note("objects that the server cannot read back")
		default:
			report.Add(c.ID+" "+v.Name, out...)
		}
	}
}

func (r *Resource) compareTable(ctx context.Context, v *apiextensionsv1.CustomResourceDefinitionVersion, namespace, name string) ([]Difference, error) {
	object, err := r.get(ctx, v.Name, namespace, name)
	if err != nil {
		return nil, err
	}
	columns, problem := crdfields.ColumnsOf(v)
	before := columns.Cells(object, time.Now())
	table, err := r.table(ctx, call{version: v.Name, namespace: namespace, name: name})
	if err != nil {
		return nil, err
	}
	after := columns.Cells(object, time.Now())
	if len(table.Rows) != 1 {
		return []Difference{{"rows", fmt.Sprintf("%d", len(table.Rows))}}, nil
	}
	right := map[string]string{}
	for i, d := range table.ColumnDefinitions[1:] {
		right[fmt.Sprintf("%d %s", i, d.Name)] = cellJSON(table.Rows[0].Cells[i+1])
	}
	text := ""
	for _, ours := range [][]any{before, after} { // the server's clock was between these two
		cells := map[string]string{}
		for i, name := range columns.Names() {
			cells[fmt.Sprintf("%d %s", i, name)] = cellJSON(ours[i])
		}
		if text = diff(right, cells); text == "" {
			return nil, nil
		}
	}
	return []Difference{{"cells", fmt.Sprintf("%s (%v)", text, problem)}}, nil
}

func cellJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (r *Resource) table(ctx context.Context, c call) (*metav1.Table, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.host+r.path(c), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", asTable)
	answer, err := r.server.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %d: %s", answer.StatusCode, shorten(string(data), 300))
	}
	table := &metav1.Table{}
	return table, kjson.UnmarshalCaseSensitivePreserveInts(data, table)
}

// Selected returns the names of the objects that match a field selector on the server. If the server
// rejects the selector, the error is the server's message.
func (r *Resource) Selected(ctx context.Context, version, namespace, selector string) ([]string, error) {
	got, err := r.server.do(ctx, http.MethodGet, r.path(call{version: version, namespace: namespace})+"?fieldSelector="+selector, nil)
	if err != nil {
		return nil, err
	}
	list, err := engine.Decode(got.body)
	if err != nil {
		return nil, err
	}
	if got.code != http.StatusOK {
		return nil, fmt.Errorf("%v", list["message"])
	}
	items, _ := list["items"].([]any)
	var names []string
	for _, item := range items {
		object, _ := item.(map[string]any)
		names = append(names, nameOf(object))
	}
	slices.Sort(names)
	return names, nil
}
