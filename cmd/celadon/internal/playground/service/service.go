// Package service implements the requests of the playground's page: bytes in, JSON out. It runs
// natively (celadon playground), in a browser (make site), and in Node (make npm).
//
//	r := service.New()
//	reply := r.Answer(ctx, []byte(`{"do":"check","crd":"…","object":"…"}`))
//
// A reply is {"value":…} or, on failure, {"error":"…"}. The results of celadon check, vet,
// and find have the form of their -o json output.
package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/x/assist"
)

// MaxRequest is the maximum length of a request in bytes.
const MaxRequest = 8 << 20

// A Request is a request of the page.
type Request struct {
	// Do is the kind of request, a key of answers.
	Do string `json:"do"`

	// CRD, Object, Old, and Policies are the contents of the page's panes.
	CRD      string `json:"crd"`
	Object   string `json:"object"`
	Old      string `json:"old"`
	Policies string `json:"policies"`
	// KubeVersion and Subresource correspond to the flags of celadon check.
	KubeVersion string `json:"kubeVersion"`
	Subresource string `json:"subresource"`

	// Item is the index of an object in the response to check, and Run the index of an evaluation of its rules.
	Item int `json:"item"`
	Run  int `json:"run"`

	// Expr is an expression to evaluate at a path of the object, which Version and Path identify.
	Expr string `json:"expr"`

	// Of is the name of a CRD or, for eval, of an object. Version, Path, and Index identify a rule in the CRD. With
	// Set, they identify a bound; if Set is "", fix applies to all bounds.
	Of      string `json:"of"`
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Set     string `json:"set"`

	// At is an offset in the text of the CRD, in UTF-16 code units as in JavaScript.
	At int `json:"at"`

	// Want and Steps correspond to the flags of celadon find.
	Want  string `json:"want"`
	Steps int    `json:"steps"`
}

// File names of the panes in reports.
const (
	CRDFile    = "crd.yaml"
	ObjectFile = "object.yaml"
	OldFile    = "old.yaml"
	PolicyFile = "policies.yaml"
)

// A Service handles requests and keeps the CRDs that it compiled last. It is safe for concurrent use.
type Service struct {
	mu   sync.Mutex
	last *compiledText
	// good is the last text with a readable CRD, because a CRD is often unreadable while it is being edited.
	good      *compiledText
	trees     editor.Trees
	functions assist.Functions
}

type compiledText struct {
	text, kubeVersion string
	*verdict.TextChecker
}

// New returns a Service with an empty cache.
func New() *Service { return &Service{} }

var answers = map[string]func(*Service, context.Context, *Request) (any, error){
	"check": (*Service).check,
	"vet":   (*Service).vet,
	"fix":   (*Service).fix,
	"trace": (*Service).trace,
	"find":  (*Service).find,
	"eval":  (*Service).eval,
	"share": (*Service).share,
	"about": (*Service).about,

	"versions": (*Service).versions,

	"complete": (*Service).complete,
	"hover":    (*Service).hover,
	"mends":    (*Service).fixes,
}

// Answer handles a request and returns the reply as JSON. It never panics.
func (r *Service) Answer(ctx context.Context, request []byte) (reply []byte) {
	defer func() {
		if p := recover(); p != nil {
			reply = failed(fmt.Errorf("internal error, please report it: %v\n%s", p, debug.Stack()))
		}
	}()
	value, err := r.answer(ctx, request)
	if err != nil {
		return failed(err)
	}
	return encoded(map[string]any{"value": value})
}

func (r *Service) answer(ctx context.Context, request []byte) (any, error) {
	if len(request) > MaxRequest {
		return nil, fmt.Errorf("the request is too large (want at most %d MiB)", MaxRequest>>20)
	}
	var req Request
	dec := json.NewDecoder(bytes.NewReader(request))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		return nil, fmt.Errorf("not a request: %w", err)
	}
	do := answers[req.Do]
	if do == nil {
		return nil, fmt.Errorf("do: %q: unknown request", req.Do)
	}
	return do(r, ctx, &req)
}

func failed(err error) []byte {
	text := err.Error()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		text = "stopped: it took too long"
	}
	return encoded(map[string]any{"error": text})
}

func encoded(v any) []byte {
	var b bytes.Buffer
	if err := print.Encoder(&b).Encode(v); err != nil {
		return []byte(`{"error":"the response cannot be encoded as JSON"}`)
	}
	return b.Bytes()
}

func (r *Service) compiled(ctx context.Context, req *Request) (*compiledText, error) {
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	if last != nil && last.text == req.CRD && last.kubeVersion == req.KubeVersion {
		return last, nil
	}
	made, err := verdict.NewTextChecker(ctx, input.Text{File: CRDFile, Data: []byte(req.CRD)}, req.KubeVersion)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = &compiledText{text: req.CRD, kubeVersion: req.KubeVersion, TextChecker: made}
	if len(made.All) > 0 {
		r.good = r.last
	}
	return r.last, nil
}
