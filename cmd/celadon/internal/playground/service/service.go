// Package service is what a page asks of the engine: bytes in, JSON out. The same
// answers come natively (celadon playground) and in a browser (make site).
//
//	r := service.New()
//	reply := r.Answer(ctx, []byte(`{"do":"check","crd":"…","object":"…"}`))
//
// A reply is {"value":…}, or {"error":"…"} where there is none. What celadon check,
// vet and find say stands in it as their -o json has it.
package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/x/assist"
)

// MaxRequest is how long a request may be, in bytes.
const MaxRequest = 8 << 20

// Request is one question.
type Request struct {
	// Do names what is asked: one of the names in answers.
	Do string `json:"do"`

	// CRD, Object and Old are the texts of the page's panes.
	CRD    string `json:"crd"`
	Object string `json:"object"`
	Old    string `json:"old"`
	// KubeVersion and Subresource are as the flags of celadon check.
	KubeVersion string `json:"kubeVersion"`
	Subresource string `json:"subresource"`

	// Item is an object's position in the report of check, Run a run's there.
	Item int `json:"item"`
	Run  int `json:"run"`

	// Of is a CRD's name. Version, Path and Index are of a rule in it, or with Set of
	// a bound: "" is all bounds.
	Of      string `json:"of"`
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Set     string `json:"set"`

	// At is a place in the CRD's text, in UTF-16 units, as JavaScript counts.
	At int `json:"at"`

	// Want and Steps are as the flags of celadon find.
	Want  string `json:"want"`
	Steps int    `json:"steps"`
}

// The files that the panes are in reports.
const (
	CRDFile    = "crd.yaml"
	ObjectFile = "object.yaml"
	OldFile    = "old.yaml"
)

// Service answers requests, and remembers the last CRDs that it compiled. It is safe for
// concurrent use.
type Service struct {
	mu    sync.Mutex
	desks []*compiledText // the last first
	// good is the last that has a CRD: while one is written, it often cannot be read.
	good      *compiledText
	trees     editor.Trees // of the CRD text
	functions assist.Functions
}

// compiledText is a CRD text at a version.
type compiledText struct {
	text, kubeVersion string
	*verdict.TextChecker

	places editor.Places
}

// kept is how many CRD texts stay compiled; but one, if together they were longer than
// much: memory is short in a browser.
const (
	kept = 2
	much = 1 << 20
)

// New makes one.
func New() *Service { return &Service{} }

// answers are what can be asked.
var answers = map[string]func(*Service, context.Context, *Request) (any, error){
	"check": (*Service).check,
	"vet":   (*Service).vet,
	"fix":   (*Service).fix,
	"trace": (*Service).trace,
	"find":  (*Service).find,
	"share": (*Service).share,
	"about": (*Service).about,

	"complete": (*Service).complete,
	"hover":    (*Service).hover,
	"mends":    (*Service).fixes,
}

// Answer answers one request. It never panics.
func (r *Service) Answer(ctx context.Context, request []byte) (reply []byte) {
	defer func() {
		if p := recover(); p != nil {
			reply = failed(fmt.Errorf("a bug of ours, please report it: %v\n%s", p, debug.Stack()))
		}
	}()
	value, err := r.answer(ctx, request)
	if err != nil {
		return failed(err)
	}
	return encoded(struct {
		Value any `json:"value"`
	}{value})
}

func (r *Service) answer(ctx context.Context, request []byte) (any, error) {
	if len(request) > MaxRequest {
		return nil, fmt.Errorf("a request of more than %d MiB: want less", MaxRequest>>20)
	}
	var req Request
	dec := json.NewDecoder(bytes.NewReader(request))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		return nil, fmt.Errorf("not a request: %w", err)
	}
	do := answers[req.Do]
	if do == nil {
		return nil, fmt.Errorf("do: %q: no such question", req.Do)
	}
	return do(r, ctx, &req)
}

func failed(err error) []byte {
	text := err.Error()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		text = "stopped: it took too long"
	}
	return encoded(struct {
		Error string `json:"error"`
	}{text})
}

func encoded(v any) []byte {
	var b bytes.Buffer
	if err := finding.Encoder(&b).Encode(v); err != nil {
		return []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	return b.Bytes()
}

// compiled is the CRD text of a request, compiled.
func (r *Service) compiled(ctx context.Context, req *Request) (*compiledText, error) {
	r.mu.Lock()
	i := slices.IndexFunc(r.desks, func(d *compiledText) bool { return d.text == req.CRD && d.kubeVersion == req.KubeVersion })
	if i >= 0 {
		d := r.desks[i]
		r.desks = slices.Insert(slices.Delete(r.desks, i, i+1), 0, d)
		r.mu.Unlock()
		return d, nil
	}
	r.makeRoom(len(req.CRD))
	r.mu.Unlock()
	made, err := verdict.NewTextChecker(ctx, input.Text{File: CRDFile, Data: []byte(req.CRD)}, req.KubeVersion)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &compiledText{text: req.CRD, kubeVersion: req.KubeVersion, TextChecker: made}
	r.makeRoom(len(req.CRD)) // another may have come meanwhile
	r.desks = slices.Insert(r.desks, 0, d)
	if made.Readable() {
		r.good = d
	}
	return d, nil
}

// makeRoom lets go of desks before one for a text of that length is made.
func (r *Service) makeRoom(size int) {
	stay := 0
	for _, d := range r.desks[:min(len(r.desks), kept-1)] {
		if size += len(d.text); size > much {
			break
		}
		stay++
	}
	r.desks = slices.Delete(r.desks, stay, len(r.desks))
}
