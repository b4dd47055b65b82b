package service

import (
	"context"
	"unicode/utf16"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/x/assist"
)

type expression struct {
	*editor.Expression
	context *assist.Context
	// at returns the offset in the text of a code point, in UTF-16 code units.
	at func(point int) int
}

type completed struct {
	From    int         `json:"from"`
	Options []candidate `json:"options"`
}

// A candidate is a completion. Insert is its form in the YAML source.
type candidate struct {
	Label  string `json:"label"`
	Insert string `json:"insert"`
	Hint   string `json:"hint"`
	Class  string `json:"class"`
}

var classes = map[assist.Class]string{
	assist.ClassVariable: "variable", assist.ClassField: "property", assist.ClassFunction: "function", assist.ClassMethod: "method",
	assist.ClassMacro: "keyword", assist.ClassWord: "constant", assist.ClassText: "text", assist.ClassOperator: "keyword",
}

func (r *Service) complete(ctx context.Context, req *Request) (any, error) {
	e, err := r.expression(ctx, req)
	if e == nil || err != nil {
		return nil, err
	}
	c := e.context.CompleteAt(e.Source, e.Cursor)
	answer := &completed{From: e.at(c.Start), Options: []candidate{}}
	for _, one := range c.Candidates {
		answer.Options = append(answer.Options, candidate{one.Text, e.Style.Escape(one.Text), one.Hint, classes[one.Class]})
	}
	return answer, nil
}

type hovered struct {
	From  int      `json:"from"`
	To    int      `json:"to"`
	Lines []string `json:"lines"`
}

func (r *Service) hover(ctx context.Context, req *Request) (any, error) {
	e, err := r.expression(ctx, req)
	if e == nil || err != nil {
		return nil, err
	}
	h := e.context.Hover(e.Source, e.Cursor)
	if h == nil {
		return nil, nil
	}
	return &hovered{e.at(h.Start), e.at(h.End), h.Lines()}, nil
}

type problem struct {
	From    int        `json:"from"`
	To      int        `json:"to"`
	Kind    string     `json:"kind"`
	Message string     `json:"message"`
	Words   string     `json:"words,omitempty"`
	Fixes   []fixReply `json:"mends"`
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

// fixes omits bounds, which the request fix handles.
func (r *Service) fixes(ctx context.Context, req *Request) (any, error) {
	e, err := r.expression(ctx, req)
	if e == nil || err != nil {
		return nil, err
	}
	list := []problem{}
	for _, p := range e.context.Problems(e.Source) {
		one := problem{From: e.at(p.Start), To: e.at(p.End), Kind: problemKinds[p.Kind], Message: p.Message, Words: p.Words, Fixes: []fixReply{}}
		for _, m := range p.Fixes {
			with := fixReply{Title: m.Title, Edits: []edit{}}
			for _, change := range m.Edits {
				with.Edits = append(with.Edits, edit{e.at(change.Start), e.at(change.End), e.Style.Escape(change.Text)})
			}
			one.Fixes = append(one.Fixes, with)
		}
		list = append(list, one)
	}
	return list, nil
}

// expression returns the rule or messageExpression at req.At, or nil if there is none. If the text has no readable CRD,
// the last readable CRD is its context.
func (r *Service) expression(ctx context.Context, req *Request) (*expression, error) {
	d, err := r.compiled(ctx, req)
	if err != nil {
		return nil, err
	}
	if len(d.All) == 0 {
		r.mu.Lock()
		d = r.good
		r.mu.Unlock()
	}
	offset := offsetOf(req.CRD, req.At)
	if d == nil || offset < 0 {
		return nil, nil
	}
	p, within := r.trees.At([]byte(req.CRD), offset)
	e, ok := p.Expression(within)
	if !ok {
		return nil, nil
	}
	crd, compiled := d.Named(e.CRD)
	if compiled == nil {
		return nil, nil
	}
	exprContext, err := editor.NewContext(compiled, crd, &e.At, e.OptionalOldSelf, &r.functions)
	if exprContext == nil || exprContext.Part == assist.AnyExpression || err != nil {
		return nil, err
	}
	return &expression{e, exprContext, func(point int) int { return units(req.CRD[:e.Point(point)]) }}, nil
}

// offsetOf returns the byte offset after n UTF-16 code units, or -1 if the text is shorter.
func offsetOf(text string, n int) int {
	for i, c := range text {
		if n <= 0 {
			return i
		}
		n -= utf16.RuneLen(c)
	}
	if n > 0 {
		return -1
	}
	return len(text)
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }
