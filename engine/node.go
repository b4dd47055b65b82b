package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// A Node is a node of the schema of a CRD version. Expressions compiled for it have self as its
// type. It is safe for concurrent use. Compiling several expressions with the same Node is much
// faster than creating a Node for each.
type Node struct {
	engine  *Engine
	version string
	path    string
	decl    *types.Decl
	bare    bool // self is not declared

	mu       sync.Mutex
	compiler *expr.Compiler // nil before the first expression
}

// At returns the node at a path such as "spec.hosts[2].name", "spec.labels['a.b']", or
// "spec.hosts[*]". An empty path is the root, and an empty version is the storage version. The
// error names the first step that the schema does not have.
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
		if err != nil {
			return nil, fmt.Errorf("path %q: %s: %w", path, FormatPath(steps[:i+1]), err)
		}
		d = next
	}
	return &Node{engine: e, version: v.name, path: FormatPath(steps), decl: d}, nil
}

// version returns a version by name; "" is the storage version.
func (e *Engine) version(name string) (*crdVersion, error) {
	if name == "" {
		return e.storage, nil
	}
	if v := e.versions[name]; v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("version %q: the CRD has %s", name, strings.Join(e.Versions(), ", "))
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

// Decl returns the declaration of the node.
func (n *Node) Decl() *types.Decl { return n.decl }

// Version returns the name of the CRD version.
func (n *Node) Version() string { return n.version }

// Path returns the path of the node; "" is the root.
func (n *Node) Path() string { return n.path }

// Compile compiles an expression of any type. It returns a *CompileError, whose Part is "rule", if
// the expression is invalid.
func (n *Node) Compile(src string) (x *Expr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			x, err = nil, bugOf(&RuleRef{Version: n.version, Path: n.path, Rule: src}, p)
		}
	}()
	if n.compiler == nil {
		if n.compiler, err = n.Compiler(); err != nil {
			return nil, n.badRule(src, err)
		}
	}
	compiled, err := n.compiler.Compile(src, false)
	if err != nil {
		return nil, err
	}
	return &Expr{compiled}, nil
}

// Compiler returns a compiler that gives access to cel-go's types. It is for Celadon's own packages
// and has no compatibility promise. It returns types.ErrHidden if rules cannot be declared at the
// node.
func (n *Node) Compiler() (*expr.Compiler, error) {
	env, err := envOf(n.engine.config)
	if err != nil {
		return nil, err
	}
	return n.newCompiler(env)
}

// PerCallLimit returns the cost limit for each evaluation of a rule.
func (n *Node) PerCallLimit() int64 { return n.engine.limits.PerCall }

// Env returns the environment in which the engine's rules compile. Like Compiler, it has no
// compatibility promise.
func (e *Engine) Env() (*celenv.Env, error) { return envOf(e.config) }

// badRule returns the error for an invalid expression at the node.
func (n *Node) badRule(src string, err error) error {
	return newCompileError(RuleRef{Version: n.version, Path: n.path, Rule: src}, rulePart, err, err.Error())
}

// Served returns the names of the served versions, the preferred first.
func (e *Engine) Served() []string {
	return slices.DeleteFunc(e.Versions(), func(name string) bool { return !e.versions[name].served })
}

// VersionOf returns the version of an object. The error lists the versions of the CRD.
func (e *Engine) VersionOf(obj map[string]any) (string, error) {
	version := versionOf(obj)
	if !e.owns(obj) || e.versions[version] == nil {
		return "", fmt.Errorf("object is %v %v: the CRD has %s in %s", obj["apiVersion"], obj["kind"], e.GroupKind(), strings.Join(e.Versions(), ", "))
	}
	return version, nil
}
