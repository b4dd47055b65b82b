package lsp

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/engine"
	enginevet "github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

func (p *part) schemaNode(version int, steps []engine.Step) *position.Node {
	tree, _ := p.doc.Tree()
	if tree == nil || p.start < 0 {
		return nil
	}
	_, _, inList := p.doc.Source()
	_, node := crdedit.Of(tree, inList, p.doc.Item).Schema(crdedit.SchemaNode{Version: version, Steps: steps})
	return node
}

// If name is "", key is x-kubernetes-validations and value the whole rule. value is nil if the text does not contain
// it.
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

func (v *view) definition(p protocol.Params) []protocol.Location {
	offset := v.text.offset(p.Position)
	if e := v.expression(offset); e != nil {
		if e.context == nil {
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
	o := v.objectAt(offset)
	if o == nil {
		return nil
	}
	return o.crd.schemaAt(o.version, stepsOf(o.Tree.At(o.within).Path))
}

// schemaAt returns the location of a field's name under properties, or else of its schema.
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

// A crdPart is a CRD in a document of the editor. It is safe for concurrent use.
type crdPart struct {
	read
	// vetted is nil for a CRD in a file that is not open.
	vetted *vet.Reviewed
	// compiled returns the engine of the CRD, or nil if it cannot be used, and the errors of its rules.
	compiled func() (*engine.Engine, []*engine.CompileError)
	// described returns the CRD with its descriptions, or nil if it cannot be used.
	described func() *apiextensionsv1.CustomResourceDefinition
}

func (s *server) newCRDPart(file string, doc *input.Document) *crdPart {
	c := &crdPart{read: newRead(file, doc)}
	c.described = sync.OnceValue(func() *apiextensionsv1.CustomResourceDefinition {
		crd, _ := resource.Decode(doc)
		return crd
	})
	c.compiled = sync.OnceValues(func() (*engine.Engine, []*engine.CompileError) {
		if c.CRD == nil {
			return nil, nil
		}
		e, err := s.crds.engine(c.CRD)
		var bad *engine.CompileErrors
		if errors.As(err, &bad) {
			return e, bad.Errors
		}
		return e, nil
	})
	return c
}

func (c *crdPart) expressionContext(at *editor.RuleAt, optionalOldSelf bool, functions *assist.Functions) *assist.Context {
	crd := c.described()
	e, _ := c.compiled()
	if crd == nil || e == nil {
		return nil
	}
	exprContext, _ := editor.NewContext(e, crd, at, optionalOldSelf, functions)
	return exprContext
}

func (p *part) report() *enginevet.Report {
	if p.crd == nil || p.crd.vetted == nil {
		return nil
	}
	return p.crd.vetted.Report
}

func (v *view) hints(protocol.Params) []protocol.InlayHint {
	all := []protocol.InlayHint{}
	for _, p := range v.known.parts {
		if p.report() == nil {
			continue
		}
		for _, version := range p.report().Versions {
			for _, r := range version.Rules {
				_, _, node := p.rulePart(&engine.RuleRef{Version: version.Name, Path: r.Path, Index: r.Index}, "rule")
				if !r.Broken && node != nil && node.Known {
					all = append(all, v.hint(p.start+node.Start, &r))
				}
			}
		}
	}
	return all
}

func (v *view) hint(offset int, r *enginevet.Rule) protocol.InlayHint {
	label := fmt.Sprintf("cost %s (%s)", phrase.Number(r.EstimatedTotal), phrase.Share(r.EstimatedTotal, r.Limit))
	runs := phrase.Count(int(min(r.Cardinality, 1<<53)), "run")
	tooltip := fmt.Sprintf("estimated: %s per run, %s at most, limit %s", phrase.Number(r.EstimatedCost), runs, phrase.Number(r.Limit))
	if r.MessageExpressionCost > 0 {
		tooltip += "; its message " + phrase.Number(r.MessageExpressionCost)
	}
	return protocol.InlayHint{Position: v.text.position(v.text.trimmedEnd(offset)), Label: label, Tooltip: tooltip, PaddingLeft: true}
}
