package policyvet

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/minors"
)

// How it works: an ApplyConfiguration is an expression with message literals, such as
// Object{spec: Object.spec{ports: [...]}}. The name of a literal's type is its path, so a field of the patch can
// be found in the schemas of the matched kinds, without evaluating the expression. The server has no such
// check, so it accepts patches that can never be applied.

// duplicatesFail are the versions that cannot merge a patch with an object that has several items with the same key.
var duplicatesFail = minors.Until(35) // k8s.io/apiserver 0.35, plugin/policy/mutating/patch/smd.go

func (l *linter) mutations(s *subject, add reporter) {
	if s.kind != mutatingKind {
		return
	}
	kinds, _ := l.schemas.matched(&s.match)
	tested := s.tested()
	for _, x := range s.expressions {
		if x.Part != policy.PartMutation || x.tree == nil {
			continue
		}
		m := &mutationLint{linter: l, x: x, effect: "the request is denied"}
		if s.ignore {
			m.effect = "the patch is silently dropped, because failurePolicy is Ignore"
		}
		for _, k := range kinds {
			if l.schemas.declare(k.kind) == nil {
				continue
			}
			m.kind = k
			isPatch := strings.HasSuffix(x.Path, "jsonPatch.expression")
			if isPatch && m.missingParent(tested, add) || !isPatch && (m.literals(add) || m.podDuplicates(add)) {
				break
			}
		}
	}
}

type mutationLint struct {
	*linter
	x      *expression
	kind   matchedKind
	effect string
}

// literals reports a field of a message literal that cannot be merged.
func (m *mutationLint) literals(add reporter) (found bool) {
	visit(m.x.tree, func(e ast.Expr) {
		if found || e.Kind() != ast.StructKind {
			return
		}
		of := e.AsStruct()
		path, ok := strings.CutPrefix(of.TypeName(), "Object")
		if !ok {
			return
		}
		for _, entry := range of.Fields() {
			f := entry.AsStructField()
			at := path + "." + f.Name()
			if f.IsOptional() || isNullLiteral(f.Value()) {
				continue
			}
			node := nodeAt(m.kind.node, at)
			switch {
			case node == nil:
			case isAtomic(node):
				add(atomicField, m.x.at(f.Value()), fmt.Sprintf("%s of %s is atomic: an ApplyConfiguration that sets it fails, and %s; %s",
					at[1:], m.kind.shown, m.effect, m.patch(at, node, f.Value())))
				found = true
				return
			case hasTwins(f.Value(), node):
				add(duplicateItems, m.x.at(f.Value()), fmt.Sprintf("%s has two items with the same key: the patch fails, and %s; remove one", at[1:], m.effect))
				found = true
				return
			}
		}
	})
	return found
}

func (m *mutationLint) patch(at string, node *structuralschema.Structural, value ast.Expr) string {
	i := strings.LastIndexByte(at, '.')
	for path := at[:i]; path != ""; path = path[:strings.LastIndexByte(path, '.')] {
		if parent := nodeAt(m.kind.node, path); parent == nil || parent.Items != nil || m.kind.mayLack("object"+path) {
			return "use a JSONPatch that also adds the missing parts of the path"
		}
	}
	source := lex.NewSource(m.x.Source, m.x.parsed).Of(value)
	if value.Kind() == ast.CallKind {
		source = "(" + source + ")"
	}
	if node.Type == "array" {
		source = "object" + at[:i] + ".?" + at[i+1:] + ".orValue([]) + " + source
	}
	return fmt.Sprintf("use the JSONPatch [JSONPatch{op: 'add', path: '%s', value: %s}]", strings.ReplaceAll(at, ".", "/"), source)
}

func (m *mutationLint) missingParent(tested map[string]bool, add reporter) (found bool) {
	visit(m.x.tree, func(e ast.Expr) {
		if found || e.Kind() != ast.StructKind || e.AsStruct().TypeName() != "JSONPatch" {
			return
		}
		fields := map[string]string{}
		for _, entry := range e.AsStruct().Fields() {
			fields[entry.AsStructField().Name()], _ = text(entry.AsStructField().Value())
		}
		steps, at := strings.Split(fields["path"], "/"), objectName
		for _, step := range steps[1:max(1, len(steps)-1)] {
			if strings.Trim(step, "0123456789") == "" {
				at += "[]"
				continue
			}
			at += fieldStep(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
			if fields["op"] == "add" && !tested[at] && m.kind.mayLack(at) {
				add(unguardedRead, m.x.at(e), fmt.Sprintf("%s is optional in %s: if it is absent, the patch of %s fails, and %s; "+
					"test it with has(), and add it as a whole if it is absent", shownPath(at), m.kind.shown, fields["path"], m.effect))
				found = true
				return
			}
		}
	})
	return found
}

// nodeAt returns the schema at a path such as ".spec.ports", which passes through lists, or nil if the schema does
// not declare it.
func nodeAt(node *structuralschema.Structural, path string) *structuralschema.Structural {
	for _, name := range strings.Split(path, ".")[1:] {
		for node != nil && node.Items != nil {
			node = node.Items
		}
		if node == nil {
			return nil
		}
		below, ok := node.Properties[name]
		if !ok {
			return nil
		}
		node = &below
	}
	return node
}

func isAtomic(node *structuralschema.Structural) bool {
	switch node.Type {
	case "array":
		return node.XListType == nil || *node.XListType == "atomic"
	case "object":
		return node.XMapType != nil && *node.XMapType == "atomic"
	}
	return false
}

func isNullLiteral(e ast.Expr) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral().Value() == nil
}

func hasTwins(e ast.Expr, node *structuralschema.Structural) bool {
	if e.Kind() != ast.ListKind || node.XListType == nil || *node.XListType != "map" {
		return false
	}
	seen := map[string]bool{}
	for _, item := range e.AsList().Elements() {
		key, ok := literalKey(item, node.XListMapKeys)
		if ok && seen[key] {
			return true
		}
		seen[key] = ok
	}
	return false
}

func literalKey(e ast.Expr, keys []string) (key string, ok bool) {
	if e.Kind() != ast.StructKind {
		return "", false
	}
	values := map[string]string{}
	for _, entry := range e.AsStruct().Fields() {
		if f := entry.AsStructField(); f.Value().Kind() == ast.LiteralKind && !f.IsOptional() {
			values[f.Name()] = fmt.Sprintf("%#v", f.Value().AsLiteral().Value())
		}
	}
	for _, name := range keys {
		v, ok := values[name]
		if !ok {
			return "", false
		}
		key += v + "\x00"
	}
	return key, true
}

var podPaths = []string{".spec", ".spec.template.spec", ".spec.jobTemplate.spec.template.spec"}

// podDuplicates adds a lint if the version cannot merge the patch with Pods that have two variables of the same name,
// which the API server accepts.
func (m *mutationLint) podDuplicates(add reporter) bool {
	if !duplicatesFail.Include(m.version.Minor) {
		return false
	}
	for _, path := range podPaths {
		env := nodeAt(m.kind.node, path+".containers.env")
		if env == nil || env.XListType == nil || *env.XListType != "map" {
			continue
		}
		add(duplicateItems, m.x.at(nil), fmt.Sprintf("a %s with two items of the same key in a list such as %s.containers.env, which the API server accepts, cannot be merged before Kubernetes 1.35, and %s; use a JSONPatch",
			m.kind.shown, path[1:], m.effect))
		return true
	}
	return false
}
