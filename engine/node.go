package engine

import (
	"fmt"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/types/path"
)

// A Node is a node of the schema of a CRD version. Expressions compiled for it have self as its type. It is safe for
// concurrent use. Compiling several expressions with the same Node is much faster than creating a Node for each.
type Node struct {
	// Version is the name of the CRD version, and Path the path of the node in it. "" is the root.
	Version, Path string
	// Decl is the declaration of self.
	Decl *types.Decl
	// Bare is set if expressions have no self; see BareNode.
	Bare bool
	// Config is the engine's configuration, with defaults for KubeVersion and Limits.
	Config Config

	mu       sync.Mutex
	compiler *expr.Compiler // nil before the first expression
}

// At returns the node at a path such as "spec.hosts[2].name", "spec.labels['a.b']", or "spec.hosts[*]". An empty path
// is the root, and an empty version is the storage version.
func (e *Engine) At(version, path string) (*Node, error) {
	v, err := e.version(version)
	if err != nil {
		return nil, err
	}
	steps, err := ParsePath(path)
	if err != nil {
		return nil, err
	}
	d := v.decl
	for i, step := range steps {
		next, err := descend(d, step)
		if err != nil && i == len(steps)-1 {
			return nil, fmt.Errorf("path %q: %w", path, err)
		}
		if err != nil {
			return nil, fmt.Errorf("path %q: %s: %w", path, FormatPath(steps[:i+1]), err)
		}
		d = next
	}
	return &Node{Version: v.name, Path: FormatPath(steps), Decl: d, Config: e.info.Config}, nil
}

// If name is "", version returns the storage version.
func (e *Engine) version(name string) (*crdVersion, error) {
	if name == "" {
		return e.storage, nil
	}
	if v := e.versions[name]; v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("version %q: the CRD has %s", name, strings.Join(e.info.Versions, ", "))
}

func descend(d *types.Decl, step Step) (*types.Decl, error) {
	if step.Item || step.Any {
		if d.Elem == nil {
			return nil, fmt.Errorf("not a list or map but %s", d)
		}
		return d.Elem, nil
	}
	if f := d.Fields[step.Name]; f != nil {
		return f.Decl, nil
	}
	if d.Kind == types.Map {
		return d.Elem, nil
	}
	return nil, fmt.Errorf("no such field in %s", d)
}

// Compile compiles an expression of any type. It returns a *CompileError, whose Part is "rule", if
// the expression is invalid.
func (n *Node) Compile(src string) (x *Expr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			x, err = nil, bugOf(&RuleRef{Version: n.Version, Path: n.Path, Rule: src}, p)
		}
	}()
	if n.compiler == nil {
		if n.compiler, err = n.newCompiler(); err != nil {
			return nil, n.badRule(src, err)
		}
	}
	compiled, err := n.compiler.Compile(src, false)
	if err != nil {
		return nil, err
	}
	return &Expr{compiled.Source(), compiled.Type().String(), compiled.Estimate(), compiled.UsesOldSelf(), compiled}, nil
}

func (n *Node) badRule(src string, err error) error {
	return newCompileError(RuleRef{Version: n.Version, Path: n.Path, Rule: src}, rulePart, err, err.Error())
}

// VersionOf returns the version of an object. The error lists the versions of the CRD.
func (e *Engine) VersionOf(obj map[string]any) (string, error) {
	version := versionOf(obj)
	if !e.owns(obj) || e.versions[version] == nil {
		return "", fmt.Errorf("object is %v %v: the CRD has %s in %s", obj["apiVersion"], obj["kind"], e.info.GroupKind, strings.Join(e.info.Versions, ", "))
	}
	return version, nil
}

// A Step is an element of a path into an object or a schema.
type Step = path.Step

// ParsePath parses a path such as "spec.hosts[2].labels['a.b'][*]". It also accepts the form
// "spec.labels[a]" of the API server's causes.
func ParsePath(text string) ([]Step, error) { return path.Parse(text) }

// FormatPath formats steps in the form that ParsePath accepts.
func FormatPath(steps []Step) string { return path.Format(steps) }

func child(parent, name string) string { return path.Child(parent, name) }
