package builtin

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// Row returns an object as a row of kubectl get -o wide: the names of the columns after the name, and their cells. The
// age is computed from the current time. A kind can have fewer cells than columns, as in the API server.
func Row(ctx context.Context, object map[string]any) (columns []string, cells []any, err error) {
	kind := kindOfObject(object)
	resource := Lookup(kind)
	if resource == nil {
		return nil, nil, &UnknownKindError{kind}
	}
	endpoints, err := resource.endpoints()
	if err != nil {
		return nil, nil, err
	}
	convertor, ok := endpoints[""].storage.(rest.TableConvertor)
	if !ok {
		return nil, nil, fmt.Errorf("%s has no table", kind)
	}
	typed, err := decodeBy(legacyscheme.Codecs.UniversalDecoder(), object)
	if err != nil {
		return nil, nil, err
	}
	table, err := convertor.ConvertToTable(ctx, typed, &metav1.TableOptions{})
	if err != nil {
		return nil, nil, err
	}
	if len(table.Rows) != 1 || len(table.Rows[0].Cells) == 0 || len(table.ColumnDefinitions) == 0 {
		return nil, nil, fmt.Errorf("%s has no row", kind)
	}
	for _, c := range table.ColumnDefinitions[1:] {
		columns = append(columns, c.Name)
	}
	return columns, table.Rows[0].Cells[1:], nil
}
