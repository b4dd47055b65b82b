package engine

import "github.com/celadon-cel/celadon/cost"

// Config is how an engine differs from the API server. The zero value is the
// API server's own behaviour, at the newest Kubernetes version that this build
// knows.
type Config struct {
	// KubeVersion is the Kubernetes minor to stand for, as "1.33"; "" is the
	// newest this build knows. It decides which CEL functions exist, which
	// string formats are checked and whether updates are ratcheted, which they
	// are from 1.30 on; costs and error texts are always those of the linked
	// release.
	KubeVersion string
	// Limits replaces the API server's cost limits; zero fields keep them.
	Limits cost.Limits
	// Expressions chooses between rules already stored in a CRD and new ones.
	Expressions Expressions
	// Subtree says, for CompileRules only, that the schema is not the root of
	// a resource: apiVersion, kind and metadata are then not added to it.
	Subtree bool
	// NoRatcheting makes updates as strict as creates, as a server with the
	// feature gate CRDValidationRatcheting off. Before 1.30 that is the default.
	NoRatcheting bool
	// Converter stands for the webhook of CRDs that convert by one. nil: there is
	// none, and an object is only decided in its own version.
	Converter Converter
}

// Expressions says which CEL environment compiles rules. See
// https://kubernetes.io/docs/reference/using-api/cel/#cel-versions-and-kubernetes-compatibility.
type Expressions uint8

const (
	// Stored compiles with all that KubeVersion knows, as a server does with
	// rules that are already in a CRD.
	Stored Expressions = iota
	// New compiles with what a server of KubeVersion accepts in rules that are
	// new to it: what its previous minor knows already, so that it can be
	// rolled back.
	New
)

func (e Expressions) String() string {
	if e == New {
		return "new"
	}
	return "stored"
}
