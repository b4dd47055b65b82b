package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// Node is a place in a CRD version's schema, where expressions compile with
// self as its type. It is safe for concurrent use. To compile several
// expressions with one Node is far faster than with one each.
type Node struct {
	engine  *Engine
	version string
	path    string
	decl    *types.Decl

	mu   sync.Mutex
	desk *expr.Compiler // nil before the first expression
}

// At finds a place: a path such as "spec.hosts[2].name", "spec.labels['a.b']"
// or "spec.hosts[*]"; "" is the root, and version "" the storage version. The
// error names the step that the schema does not have.
func (e *Engine) At(version, path string) (*Node, error) {
	v, err := e.version(version)
	if err != nil {
		return nil, err
	}
	steps, err := ParsePath(path)
	if err != nil {
		return nil, err
	}
	d := v.rules.decl
	for i, step := range steps {
		next, err := descend(d, step)
		if err != nil {
			return nil, fmt.Errorf("path %q: %s: %w", path, FormatPath(steps[:i+1]), err)
		}
		d = next
	}
	return &Node{engine: e, version: v.name, path: FormatPath(steps), decl: d}, nil
}

// version finds a version by name; "" is the storage version.
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

// Decl is the declaration of the place.
func (n *Node) Decl() *types.Decl { return n.decl }

// Version is the CRD version.
func (n *Node) Version() string { return n.version }

// Path is the place in the schema; "" is the root.
func (n *Node) Path() string { return n.path }

// Compile compiles an expression of any type at this place. The error is a
// *CompileError; Part is "rule".
func (n *Node) Compile(src string) (x *Expr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			x, err = nil, bugOf(&RuleRef{Version: n.version, Path: n.path, Rule: src}, p)
		}
	}()
	if n.desk == nil {
		if n.desk, err = n.Compiler(); err != nil {
			return nil, n.badRule(src, err)
		}
	}
	compiled, err := n.desk.Compile(src, false)
	if err != nil {
		return nil, err
	}
	return &Expr{compiled}, nil
}

// Compiler is for Celadon's own rooms, which look into expressions: it is no part of
// what is kept stable. The error is types.ErrHidden where rules cannot stand.
func (n *Node) Compiler() (*expr.Compiler, error) {
	env, err := envOf(n.engine.config)
	if err != nil {
		return nil, err
	}
	return expr.NewCompiler(env, n.decl, n.engine.limits.PerCall, n.badRule)
}

// PerCallLimit is what one evaluation of a rule may cost.
func (n *Node) PerCallLimit() int64 { return n.engine.limits.PerCall }

// Env is for Celadon's own rooms, as Compiler is: what the engine's rules know.
func (e *Engine) Env() (*types.Env, error) { return envOf(e.config) }

// badRule is the error of an expression here.
func (n *Node) badRule(src string, err error) error {
	return newCompileError(RuleRef{Version: n.version, Path: n.path, Rule: src}, rulePart, err, err.Error())
}

// Served are the names of the versions that clients can use, the preferred
// first.
func (e *Engine) Served() []string {
	return slices.DeleteFunc(e.Versions(), func(name string) bool { return !e.versions[name].served })
}

// VersionOf is the version of an object's apiVersion; the error says which
// versions the CRD has.
func (e *Engine) VersionOf(obj map[string]any) (string, error) {
	version := versionOf(obj)
	if !e.owns(obj) || e.versions[version] == nil {
		return "", fmt.Errorf("object is %v %v: the CRD has %s in %s", obj["apiVersion"], obj["kind"], e.GroupKind(), strings.Join(e.Versions(), ", "))
	}
	return version, nil
}
