package lsp

import (
	"os"
	"slices"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// schemaNode returns the schema at a path in the CRD's text, or nil.
func (p *part) schemaNode(version int, steps []engine.Step) *position.Node {
	tree, _ := p.doc.Tree()
	if tree == nil || p.start < 0 {
		return nil
	}
	_, _, inList := p.doc.Source()
	_, node := crdedit.Of(tree, inList, p.doc.Item).Schema(crdedit.SchemaNode{Version: version, Steps: steps})
	return node
}

// rulePart returns the location of a part of a rule in the CRD, and its key and value in the text. If name is "", the
// value is the whole rule. The nodes are nil if the text does not contain them.
func (p *part) rulePart(ref *engine.RuleRef, name string) (at editor.RuleAt, key, value *position.Node) {
	if p.crd == nil || p.crd.CRD == nil {
		return at, nil, nil
	}
	steps, err := engine.ParsePath(ref.Path)
	at = editor.RuleAt{Steps: steps, Index: ref.Index, Key: name}
	at.Version = slices.IndexFunc(p.crd.CRD.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == ref.Version })
	if err != nil || at.Version < 0 {
		return at, nil, nil
	}
	schema := p.schemaNode(at.Version, steps)
	if schema == nil {
		return at, nil, nil
	}
	key, rules := schema.Get("x-kubernetes-validations")
	if rules == nil {
		return at, nil, nil
	}
	if value = rules.Item(at.Index); value != nil && name != "" {
		key, value = value.Get(name)
	}
	return at, key, value
}

func (p *part) location(node *position.Node) protocol.Location {
	end := node.Start
	if node.Known {
		end = max(end, node.End)
	}
	return protocol.Location{URI: p.uri, Range: p.text.rangeOf(p.start+node.Start, p.start+end)}
}

// crdOf returns the CRD of a kind that is in force, or nil.
func (s *server) crdOf(kind schema.GroupKind) *part {
	def, _ := s.crds.live().Definition(kind)
	if def == nil {
		return nil
	}
	path := s.crds.fileOf(def.Name)
	find := func(a *analysis) *part {
		if a == nil {
			return nil
		}
		i := slices.IndexFunc(a.parts, func(p *part) bool { return p.crd != nil && p.crd.CRD != nil && p.crd.CRD.Name == def.Name })
		if i < 0 {
			return nil
		}
		return a.parts[i]
	}
	if v := s.opened(path); v != nil && find(v.known) != nil {
		return find(v.known)
	}
	return find(s.other.read(path, s))
}

// ruleIn returns the location of a rule in the CRD of a kind, or nil if it is unknown.
func (s *server) ruleIn(kind schema.GroupKind, ref *engine.RuleRef) []protocol.Related {
	c := s.crdOf(kind)
	if c == nil {
		return nil
	}
	_, key, _ := c.rulePart(ref, "rule")
	if key == nil {
		return nil
	}
	return []protocol.Related{{Location: c.location(key), Message: "the rule"}}
}

// otherFiles caches files with CRDs that are not open.
type otherFiles struct {
	mu    sync.Mutex
	files map[string]otherFile
}

type otherFile struct {
	time time.Time
	size int64
	*analysis
}

const maxOther = 20

// read returns the file as it is on disk, or nil if it cannot be read.
func (o *otherFiles) read(path string, s *server) *analysis {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if f, ok := o.files[path]; ok && f.time.Equal(info.ModTime()) && f.size == info.Size() {
		return f.analysis
	}
	data, err := s.onDisk(path)
	if err != nil {
		return nil
	}
	a := &analysis{text: &text{bytes: data}}
	a.parts = split(path, s.uriOf(path), a.text)
	for _, p := range a.parts {
		if p.documentType == crd {
			p.crd = s.newCRDPart(path, p.doc)
		}
	}
	if o.files == nil || len(o.files) >= maxOther {
		o.files = map[string]otherFile{}
	}
	o.files[path] = otherFile{info.ModTime(), info.Size(), a}
	return a
}

// definition returns the schema of the field at a position, which is in a rule or in an object.
func (v *view) definition(p protocol.Params) []protocol.Location {
	offset := v.text.offset(p.Position)
	if e := v.expression(offset); e != nil {
		if !e.isChecked() {
			return nil
		}
		h := e.context.Hover(e.Source, e.Cursor)
		if h == nil || !h.InObject {
			return nil
		}
		steps, err := engine.ParsePath(h.Path)
		if err != nil {
			return nil
		}
		return e.crd.schemaAt(e.At.Version, steps)
	}
	piece, within := v.trees.At(v.text.bytes, offset)
	o := v.objectAt(piece)
	if o == nil {
		return nil
	}
	return o.crd.schemaAt(o.version, stepsOf(piece.Tree.At(within).Path))
}

// schemaAt returns the location of the schema of a field: the name under properties, if any.
func (p *part) schemaAt(version int, steps []engine.Step) []protocol.Location {
	node := p.schemaNode(version, steps)
	if node == nil {
		return nil
	}
	at := firstWord(node)
	if n := len(steps); n > 0 && steps[n-1].Name != "" {
		if above := p.schemaNode(version, steps[:n-1]); above != nil {
			if _, properties := above.Get("properties"); properties != nil {
				if key, _ := properties.Get(steps[n-1].Name); key != nil {
					at = key
				}
			}
		}
	}
	return []protocol.Location{p.location(at)}
}

func firstWord(n *position.Node) *position.Node {
	for {
		switch {
		case n.Kind == position.Mapping && len(n.Keys) > 0:
			return n.Keys[0]
		case n.Kind == position.Sequence && len(n.Items) > 0:
			n = n.Items[0]
		default:
			return n
		}
	}
}
