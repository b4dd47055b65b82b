package engine

import "github.com/celadon-cel/celadon/cost"

// Config configures an engine. The zero value behaves like the API server of the newest Kubernetes
// version that this build supports.
type Config struct {
	// KubeVersion is the Kubernetes minor to emulate, such as "1.33". If it is empty, the newest
	// supported minor is used. It determines which CEL functions exist, how objects are validated,
	// whether updates are ratcheted (since 1.30), and the messages of causes, whatever Kubernetes release
	// is linked.
	KubeVersion string
	// Limits overrides the API server's cost limits. Zero fields keep the server's limits.
	Limits cost.Limits
	// Expressions selects the CEL environment, for rules already stored in a CRD or for new rules.
	Expressions Expressions
	// Subtree is used by CompileRules only. If it is set, the schema is not the root of a resource,
	// so apiVersion, kind, and metadata are not added to it.
	Subtree bool
	// NoRatcheting validates updates as strictly as creates, like a server whose feature gate
	// CRDValidationRatcheting is off. Before 1.30 this is the default.
	NoRatcheting bool
	// Lazy compiles the rules of a version when they first run, to save the memory and time for
	// versions that no object uses. Invalid rules are then reported by Validate only, as causes. It
	// applies to Compile and CompileCRD.
	Lazy bool
	// Converter replaces the conversion webhook of CRDs with the strategy Webhook. If it is nil,
	// objects of such CRDs are validated in their own version only.
	Converter Converter
}

// Expressions selects the CEL environment that compiles rules. See
// https://kubernetes.io/docs/reference/using-api/cel/#cel-versions-and-kubernetes-compatibility.
type Expressions uint8

const (
	// Stored compiles rules with everything that KubeVersion supports, as a server does for rules
	// that are already in a CRD.
	Stored Expressions = iota
	// New compiles rules as a server of KubeVersion does when they are new or changed: with the CEL
	// features of the previous minor, so that the server can be rolled back.
	New
)

func (e Expressions) String() string {
	if e == New {
		return "new"
	}
	return "stored"
}
