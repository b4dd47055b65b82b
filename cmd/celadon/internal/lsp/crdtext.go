package lsp

import (
	"context"
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

// at returns the location of a rule's part in the CRD.
func (c *crdPart) at(ref *engine.RuleRef, part string) (at editor.RuleAt, ok bool) {
	if c.read.CRD == nil {
		return at, false
	}
	steps, err := engine.ParsePath(ref.Path)
	at = editor.RuleAt{Steps: steps, Index: ref.Index, Key: part}
	at.Version = slices.IndexFunc(c.read.CRD.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == ref.Version })
	return at, err == nil && at.Version >= 0
}

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

// ruleNode returns the key and value of a part of a rule in the CRD's text, or the whole rule if
// at.Key is "". It returns nil if the text does not contain it.
func (p *part) ruleNode(at editor.RuleAt) (key, value *position.Node) {
	schema := p.schemaNode(at.Version, at.Steps)
	if schema == nil {
		return nil, nil
	}
	key, rules := schema.Get(validations)
	if rules == nil {
		return nil, nil
	}
	rule := rules.Item(at.Index)
	if rule == nil || at.Key == "" {
		return key, rule
	}
	return rule.Get(at.Key)
}

// words returns the mapping between the value of a scalar and its source.
func (p *part) words(node *position.Node) (*position.Text, bool) {
	tree, _ := p.doc.Tree()
	if node == nil || tree == nil {
		return nil, false
	}
	return tree.Text(node.Resolve())
}

// sourced is a CRD with its source.
type sourced struct {
	uri  string
	text *text
	part *part
}

func (s *sourced) location(node *position.Node) protocol.Location {
	end := node.End
	if !node.Known || end < node.Start {
		end = node.Start
	}
	return protocol.Location{URI: s.uri, Range: s.text.rangeOf(s.part.start+node.Start, s.part.start+end)}
}

// crdOf returns the CRD of a kind that is in force, or nil.
func (s *server) crdOf(kind schema.GroupKind) *sourced {
	def, _ := s.crds.live().Definition(kind)
	if def == nil {
		return nil
	}
	path := s.crds.fileOf(def.Name)
	is := func(p *part) bool { return p.crd != nil && p.crd.read.CRD != nil && p.crd.read.CRD.Name == def.Name }
	s.docs.mu.Lock()
	for uri, d := range s.docs.all {
		if d.name != path || d.known == nil {
			continue
		}
		if i := slices.IndexFunc(d.known.parts, is); i >= 0 {
			s.docs.mu.Unlock()
			return &sourced{uri, d.known.text, d.known.parts[i]}
		}
	}
	s.docs.mu.Unlock()
	of := s.other.read(path, s)
	if of == nil {
		return nil
	}
	if i := slices.IndexFunc(of.parts, is); i >= 0 {
		return &sourced{s.uriOf(path), of.text, of.parts[i]}
	}
	return nil
}

func (s *server) ruleIn(kind schema.GroupKind, ref *engine.RuleRef) (protocol.Location, bool) {
	c := s.crdOf(kind)
	if c == nil {
		return protocol.Location{}, false
	}
	at, ok := c.part.crd.at(ref, "rule")
	if !ok {
		return protocol.Location{}, false
	}
	key, _ := c.part.ruleNode(at)
	if key == nil {
		return protocol.Location{}, false
	}
	return c.location(key), true
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

// maxOther limits the cached files.
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
	a.parts = split(path, a.text)
	for _, p := range a.parts {
		if p.documentType == crd {
			p.crd = newCRDPart(p.doc)
			p.crd.compile = s.compiler(p.crd)
		}
	}
	if o.files == nil || len(o.files) >= maxOther {
		o.files = map[string]otherFile{}
	}
	o.files[path] = otherFile{info.ModTime(), info.Size(), a}
	return a
}

// definition returns the schema of the field at offset, which is in a rule or in an object.
func (v *view) definition(_ context.Context, offset int) []protocol.Location {
	if e := v.expression(offset); e != nil {
		return v.fieldInRule(e)
	}
	p, within := v.trees.At(v.text.bytes, offset)
	o := v.objectAt(p)
	if o == nil {
		return nil
	}
	return o.crd.schemaAt(o.version, stepsOf(p.Tree.At(within).Path))
}

func (v *view) fieldInRule(e *expression) []protocol.Location {
	if e.context == nil || e.At.Key != "rule" && e.At.Key != "messageExpression" {
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
	return (&sourced{v.uri, e.crd.text, e.crd}).schemaAt(e.At.Version, steps)
}

// schemaAt returns the location of the schema of a field: the name under properties, if any.
func (s *sourced) schemaAt(version int, steps []engine.Step) []protocol.Location {
	node := s.part.schemaNode(version, steps)
	if node == nil {
		return nil
	}
	if n := len(steps); n > 0 && steps[n-1].Name != "" {
		if above := s.part.schemaNode(version, steps[:n-1]); above != nil {
			if _, properties := above.Get("properties"); properties != nil {
				if key, _ := properties.Get(steps[n-1].Name); key != nil {
					return []protocol.Location{s.location(key)}
				}
			}
		}
	}
	return []protocol.Location{s.location(firstWord(node))}
}

// firstWord returns the first key or scalar in a node.
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
