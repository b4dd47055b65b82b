package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/jsonrpc"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/assist"
)

// Options holds the flags of celadon lsp.
type Options struct {
	// KubeVersion is the default Kubernetes version. The editor's settings can override it.
	KubeVersion string
}

type server struct {
	conn   *jsonrpc.Conn
	rounds *schedule
	crds   crds
	ctx    context.Context

	// configuring is held while settings change.
	configuring sync.Mutex

	mu         sync.Mutex // guards the fields below up to exited
	settings   settings
	versions   versions
	roots      []string
	vet        *vet.Reviewer
	goReviewer *vet.GoReviewer
	client     *protocol.Initialize // nil before the request initialize
	docs       map[string]*document
	// news is closed and replaced when waiting requests must check their needs again.
	news     chan struct{}
	searches int  // running searches for CRDs in workspace folders
	shutDown bool // by the request shutdown, which ends waiting requests
	exited   bool

	functions *assist.Functions
	other     otherFiles
	stderr    io.Writer
	logged    sync.Map // messages about Go packages, which are logged only once
	started   sync.Once
	maxWait   time.Duration // the constant, except in tests
}

// Run implements celadon lsp: it serves until its input ends, the editor sends exit, or the process
// that started it has ended.
func Run(ctx context.Context, streams command.Streams, o *Options) error {
	s := newServer(o, streams.Stderr)
	if _, _, err := s.configure(ctx, nil); err != nil {
		return err
	}
	s.conn = jsonrpc.New(streams.Stdin, streams.Stdout, jsonrpc.Handler{Notified: s.notified, HandleRequest: s.handleRequest, Bug: s.bug})
	ctx, cancel := context.WithCancel(ctx)
	s.ctx = ctx
	var rounds sync.WaitGroup
	rounds.Go(func() { s.run(ctx) })
	stop := context.AfterFunc(ctx, s.conn.Close)
	err := s.conn.Run()
	stop()
	cancel()
	rounds.Wait()
	switch {
	case err != nil:
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("the editor's input is not valid Language Server Protocol: %w", err)}
	case s.exited && !s.shutDown:
		return &command.ExitError{Code: command.Findings} // as the protocol requires
	}
	return nil
}

func newServer(o *Options, stderr io.Writer) *server {
	return &server{
		rounds: newSchedule(), functions: &assist.Functions{}, settings: settings{KubeVersion: o.KubeVersion}, stderr: stderr, maxWait: maxWait,
		docs: map[string]*document{}, news: make(chan struct{}),
	}
}

func (s *server) reviewer() *vet.Reviewer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vet
}

func (s *server) folders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.roots)
}

func (s *server) notified(method string, params json.RawMessage) {
	if n := notifications[method]; n != nil {
		n(s, params)
	}
}

func take[P any](do func(*server, P)) func(*server, json.RawMessage) {
	return func(s *server, data json.RawMessage) {
		var p P
		if json.Unmarshal(data, &p) == nil {
			do(s, p)
		}
	}
}

var notifications = map[string]func(*server, json.RawMessage){
	"initialized":                         func(s *server, _ json.RawMessage) { s.started.Do(s.start) },
	"exit":                                func(s *server, _ json.RawMessage) { s.exit() },
	"textDocument/didOpen":                take((*server).didOpen),
	"textDocument/didChange":              take((*server).didChange),
	"textDocument/didClose":               take((*server).didClose),
	"textDocument/didSave":                take((*server).didSave),
	"workspace/didChangeWatchedFiles":     take((*server).didChangeWatchedFiles),
	"workspace/didChangeWorkspaceFolders": take((*server).didChangeWorkspaceFolders),
	"workspace/didChangeConfiguration":    take((*server).didChangeConfiguration),
}

func (s *server) handleRequest(method string, params json.RawMessage) func(context.Context) (any, error) {
	s.mu.Lock()
	early, late := s.client == nil && method != "initialize", s.shutDown
	s.mu.Unlock()
	r := requests[method]
	switch {
	case early:
		return failed(&jsonrpc.Error{Code: notInitialized, Message: "the first request must be initialize"})
	case late:
		return failed(&jsonrpc.Error{Code: jsonrpc.InvalidParams, Message: "the server is shut down"})
	case r == nil:
		return nil
	}
	return r(s, params)
}

const (
	notInitialized  = -32002
	contentModified = -32801
	serverCanceled  = -32802
)

type request func(*server, json.RawMessage) func(context.Context) (any, error)

func failed(err error) func(context.Context) (any, error) {
	return func(context.Context) (any, error) { return nil, err }
}

func answer[P any](do func(*server, P) func(context.Context) (any, error)) request {
	return func(s *server, data json.RawMessage) func(context.Context) (any, error) {
		var p P
		if err := json.Unmarshal(data, &p); err != nil && len(data) > 0 {
			return failed(&jsonrpc.Error{Code: jsonrpc.InvalidParams, Message: err.Error()})
		}
		return do(s, p)
	}
}

var requests = map[string]request{
	"initialize":                 answer((*server).initialize),
	"shutdown":                   answer((*server).shutdown),
	"textDocument/hover":         inDocument(isUsable, (*view).hover),
	"textDocument/completion":    inDocument(isUsable, (*view).completion),
	"textDocument/signatureHelp": inDocument(isUsable, (*view).signatureHelp),
	"textDocument/definition":    inDocument(isUsable, (*view).definition),
	"textDocument/codeAction":    inDocument(isUsable|isCurrent, (*view).codeActions),
	"textDocument/inlayHint":     inDocument(isCurrent, (*view).hints),
}

func (s *server) didChangeWatchedFiles(p protocol.DidChangeWatchedFiles) {
	for _, c := range p.Changes {
		s.rounds.reread(pathOf(c.URI))
		s.fileChanged(pathOf(c.URI))
	}
}

// didSave supports editors that do not watch files.
func (s *server) didSave(p protocol.Params) { s.fileChanged(pathOf(p.TextDocument.URI)) }

func (s *server) didChangeWorkspaceFolders(p protocol.DidChangeWorkspaceFolders) {
	s.mu.Lock()
	for _, f := range p.Event.Removed {
		s.roots = slices.DeleteFunc(s.roots, func(root string) bool { return root == pathOf(f.URI) })
	}
	added := s.addFolders(p.Event.Added)
	s.mu.Unlock()
	for _, path := range s.crds.paths() {
		if root, _ := s.folderOf(path); root == "" {
			s.rounds.reread(path) // drops its CRDs
		}
	}
	s.startSearch(added)
	s.fileChanged(config.Name) // another file may be at the top now
}

// addFolders adds folders to the workspace and returns the paths of the new ones. The caller must hold s.mu.
func (s *server) addFolders(folders []protocol.Folder) []string {
	before := len(s.roots)
	for _, f := range folders {
		if path := pathOf(f.URI); filepath.IsAbs(path) && !slices.Contains(s.roots, path) {
			s.roots = append(s.roots, path)
		}
	}
	return slices.Clone(s.roots[before:])
}

func (s *server) didChangeConfiguration(p struct {
	Settings json.RawMessage `json:"settings"`
}) {
	s.reconfigure(p.Settings)
}

func (s *server) shutdown(struct{}) func(context.Context) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutDown = true
	s.wakeWaiting()
	return func(context.Context) (any, error) { return nil, nil }
}

func (s *server) exit() {
	s.mu.Lock()
	s.exited = true
	s.mu.Unlock()
	s.conn.Close()
}

// guard recovers from a panic of do, which handles untrusted data, and reports it.
func (s *server) guard(task string, do func()) {
	defer func() {
		if v := recover(); v != nil {
			s.bug(task, v)
		}
	}()
	do()
}

func (s *server) bug(task string, v any) {
	s.log(protocol.Error, fmt.Sprintf("%s: internal error in celadon: %v", task, v))
	untrusted.Fprintf(untrusted.NewWriter(s.stderr), "celadon: %s: internal error in celadon: %s\n%s\n", task, fmt.Sprint(v), string(debug.Stack()))
}

func (s *server) initialize(p protocol.Initialize) func(context.Context) (any, error) {
	s.mu.Lock()
	s.client = &p
	if len(p.WorkspaceFolders) == 0 {
		p.WorkspaceFolders = []protocol.Folder{{URI: p.RootURI}}
	}
	s.addFolders(p.WorkspaceFolders)
	s.mu.Unlock()
	if _, _, err := s.configure(s.ctx, p.Options); err != nil {
		s.log(protocol.Error, "initializationOptions: "+err.Error())
		_, _, _ = s.configure(s.ctx, nil) // the settings in the workspace still apply
	}
	return func(context.Context) (any, error) {
		return fields{"capabilities": capabilities, "serverInfo": fields{"name": "celadon", "version": command.Version()}}, nil
	}
}

// fields is a JSON object that has no type in package protocol.
type fields map[string]any

var capabilities = fields{
	"positionEncoding":      "utf-16",
	"textDocumentSync":      fields{"openClose": true, "change": 2, "save": true},
	"hoverProvider":         true,
	"definitionProvider":    true,
	"inlayHintProvider":     true,
	"completionProvider":    fields{"triggerCharacters": []string{".", "?"}},
	"signatureHelpProvider": fields{"triggerCharacters": []string{"(", ","}},
	"codeActionProvider":    fields{"codeActionKinds": []string{quickFix, fixAll}},
	"workspace":             fields{"workspaceFolders": fields{"supported": true, "changeNotifications": true}},
}

const parentEvery = 3 * time.Second

func (s *server) start() {
	s.startSearch(s.folders())
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client == nil {
		return // the editor sent no request initialize
	}
	if client.ProcessID != nil {
		go s.watchParent(*client.ProcessID)
	}
	if client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		watchers := []fields{{"globPattern": "**/*.{yaml,yml,json}"}}
		files := fields{"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": fields{"watchers": watchers}}
		// An editor without this method does not report changes of files that are not open.
		go s.conn.Call(s.ctx, "client/registerCapability", fields{"registrations": []fields{files}}, nil)
	}
}

// watchParent ends the server when the editor's process ends, in case the stream stays open.
func (s *server) watchParent(pid int) {
	for !gone(pid) {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(parentEvery):
		}
	}
	s.conn.Close()
}

// gone reports whether a process has ended. It is always false on Windows, where the server ends with the stream.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
