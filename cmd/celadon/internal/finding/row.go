package finding

import "k8s.io/apimachinery/pkg/runtime/schema"

// Table holds the common properties of the rows of a kind and version.
type Table struct {
	Kind       schema.GroupVersionKind
	Namespaced bool
	// Columns are the names of the columns after NAMESPACE and NAME.
	Columns []string
}

// Row is an object as a row of kubectl get.
type Row struct {
	*Table
	Namespace, Name string
	// Cells has one cell per column; nil is an empty cell.
	Cells []any
}
