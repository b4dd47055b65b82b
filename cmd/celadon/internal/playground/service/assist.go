package service

import (
	"context"
	"errors"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/crdedit"
)

// placeKey names a part of a rule of a desk's CRDs.
type placeKey struct {
	crd, version, path, part string
	optionalOldSelf          bool
}

// expression is the part of a rule at a place of the CRD's text.
type expression struct {
	place *assist.Place
	part  string
	src   string
	// cursor is the place in it, in code points.
	cursor int
	style  position.Style
	// at is where a code point stands in the text, in UTF-16 units.
	at func(point int) int
}

// completed is the answer to complete.
type completed struct {
	From    int         `json:"from"`
	Options []candidate `json:"options"`
}

// candidate is what fits: Insert is how it is written there.
type candidate struct {
	Label  string `json:"label"`
	Insert string `json:"insert"`
	Hint   string `json:"hint"`
	Class  string `json:"class"`
}

var classes = map[assist.Class]string{
	assist.ClassVariable: "variable", assist.ClassField: "property", assist.ClassFunction: "function", assist.ClassMethod: "method",
	assist.ClassMacro: "keyword", assist.ClassWord: "constant", assist.ClassNumber: "constant", assist.ClassText: "text", assist.ClassOperator: "keyword",
}

func (r *Service) complete(ctx context.Context, req *Request) (any, error) {
	e, err := r.expression(ctx, req)
	if e == nil || err != nil {
		return nil, err
	}
	var c assist.Completion
	switch e.part {
	case "rule", "messageExpression":
		c = e.place.CompleteAt(e.src, e.cursor)
	case "fieldPath":
		c = e.place.CompleteFieldPath(e.src, e.cursor)
	default:
		return nil, nil
	}
	answer := &completed{From: e.at(c.Start), Options: []candidate{}}
	for _, one := range c.Candidates {
		answer.Options = append(answer.Options, candidate{one.Text, e.style.Escape(one.Text), one.Hint, classes[one.Class]})
	}
	return answer, nil
}

// hovered is the answer to hover.
type hovered struct {
	From  int      `json:"from"`
	To    int      `json:"to"`
	Lines []string `json:"lines"`
}

func (r *Service) hover(ctx context.Context, req *Request) (any, error) {
	e, err := r.expression(ctx, req)
	if e == nil || err != nil || e.place.Part == assist.AnyExpression {
		return nil, err
	}
	h := e.place.Hover(e.src, e.cursor)
	if h == nil {
		return nil, nil
	}
	return &hovered{e.at(h.Start), e.at(h.End), h.Lines()}, nil
}

// problem is one of the answer to mends: what is wrong with an expression.
type problem struct {
	From    int        `json:"from"`
	To      int        `json:"to"`
	Kind    string     `json:"kind"`
	Message string     `json:"message"`
	Words   string     `json:"words,omitempty"`
	Mends   []fixReply `json:"mends"`
}

type fixReply struct {
	Title string `json:"title"`
	Edits []edit `json:"edits"`
}

type edit struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Text string `json:"text"`
}

var problemKinds = map[assist.ProblemKind]string{assist.Broken: "broken", assist.Unguarded: "unguarded", assist.Costly: "costly"}

// fixes are what is wrong with an expression and how to mend it by its text alone: of
// bounds fix tells.
func (r *Service) fixes(ctx context.Context, req *Request) (any, error) {
	e, err := r.expression(ctx, req)
	if e == nil || err != nil || e.place.Part == assist.AnyExpression {
		return nil, err
	}
	list := []problem{}
	for _, p := range e.place.Problems(e.src) {
		one := problem{From: e.at(p.Start), To: e.at(p.End), Kind: problemKinds[p.Kind], Message: p.Message, Words: p.Words, Mends: []fixReply{}}
		for _, m := range p.Fixes {
			if len(m.Bounds) > 0 {
				continue
			}
			with := fixReply{Title: m.Title, Edits: []edit{}}
			for _, change := range m.Edits {
				with.Edits = append(with.Edits, edit{e.at(change.Start), e.at(change.End), e.style.Escape(change.Text)})
			}
			one.Mends = append(one.Mends, with)
		}
		list = append(list, one)
	}
	return list, nil
}

// expression is nil where there is none.
func (r *Service) expression(ctx context.Context, req *Request) (*expression, error) {
	d, err := r.compiled(ctx, req)
	if err != nil {
		return nil, err
	}
	if !d.Readable() {
		r.mu.Lock()
		d = r.good
		r.mu.Unlock()
	}
	offset := offsetOf(req.CRD, req.At)
	if d == nil || offset < 0 {
		return nil, nil
	}
	start, end, _ := decode.Around([]byte(req.CRD), offset)
	tree := r.treeOf(req.CRD[start:end])
	offset = max(0, offset-start)
	spot := tree.At(offset)
	if spot.Key {
		_, spot.Node = tree.Find(spot.Path)
	}
	at, index, part, ok := crdedit.RuleAt(spot.Path)
	if !ok || part == "" || spot.Node == nil || spot.Node.Kind != position.Scalar {
		return nil, nil
	}
	words, ok := tree.Text(spot.Node)
	if !ok {
		return nil, nil
	}
	place, err := r.place(d, nameIn(tree, spot.Path), at, index, part, tree, spot.Path)
	if place == nil || err != nil {
		return nil, err
	}
	e := &expression{place: place, part: part, src: spot.Node.Value, style: spot.Node.Style}
	if !spot.Key {
		e.cursor = words.Point(offset)
	}
	e.at = func(point int) int { return units(req.CRD[:start+words.SourcePoint(point)]) }
	return e, nil
}

// place is nil where rules cannot stand, as far as the CRD is known.
func (r *Service) place(d *compiledText, name string, at crdedit.Place, index int, part string, tree *position.Document, path position.Path) (*assist.Place, error) {
	crd, e := d.Definition(name)
	if e == nil || at.Version >= len(crd.Spec.Versions) {
		return nil, nil
	}
	v := &crd.Spec.Versions[at.Version]
	key := placeKey{crd: crd.Name, version: v.Name, path: engine.FormatPath(at.Steps), part: part}
	if _, optional := tree.Find(append(path[:len(path)-1:len(path)-1], position.Key("optionalOldSelf"))); optional != nil {
		key.optionalOldSelf = optional.Value == "true"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.places[key]; known != nil {
		return known, nil
	}
	if v.Schema == nil {
		return nil, nil
	}
	place, err := assist.NewPlace(e, v.Schema.OpenAPIV3Schema, key.version, key.path)
	var bug *engine.InternalError
	if err != nil {
		if errors.As(err, &bug) {
			return nil, err
		}
		return nil, nil // the schema is not what it was when it could be read
	}
	place.Functions, place.OptionalOldSelf = &r.functions, key.optionalOldSelf
	switch part {
	case "rule":
		place.Part = assist.Rule
	case "messageExpression":
		place.Part = assist.MessageExpression
	}
	if len(d.places) >= maxPlaces {
		clear(d.places)
	}
	d.places[key] = place
	return place, nil
}

// maxPlaces is how many places of a CRD are kept: each has an environment of its own.
const maxPlaces = 50

// treeOf is a text's, or nearly.
func (r *Service) treeOf(text string) *position.Document {
	r.mu.Lock()
	before := r.tree
	r.mu.Unlock()
	tree := position.Loose([]byte(text), before)
	if tree.Broken() == nil {
		r.mu.Lock()
		r.tree = tree
		r.mu.Unlock()
	}
	return tree
}

// nameIn is the name of the CRD that a path leads into.
func nameIn(tree *position.Document, path position.Path) string {
	root := position.Path{}
	if name, _ := path[0].Name(); name == "items" && len(path) > 1 {
		root = slices.Clone(path[:2])
	}
	if _, name := tree.Find(append(root, position.Key("metadata"), position.Key("name"))); name != nil {
		return name.Value
	}
	return ""
}

// offsetOf is the byte at which so many UTF-16 units have passed; -1 behind the end.
func offsetOf(text string, n int) int {
	for i, c := range text {
		if n <= 0 {
			return i
		}
		n -= unitsOf(c)
	}
	if n > 0 {
		return -1
	}
	return len(text)
}

func units(text string) (n int) {
	for _, c := range text {
		n += unitsOf(c)
	}
	return n
}

func unitsOf(c rune) int {
	if c > 0xffff {
		return 2
	}
	return 1
}
