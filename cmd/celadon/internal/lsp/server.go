package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
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

// A server serves one editor.
type server struct {
	conn   *jsonrpc.Conn
	docs   documents
	rounds *schedule
	crds   crds
	ctx    context.Context

	configuring sync.Mutex // held while settings change
	mu          sync.Mutex
	settings    settings
	versions    versions
	roots       []string
	vet         *vet.Reviewer
	initialized bool
	shutDown    bool
	exited      bool
	client      protocol.Initialize
	goReviewer  *vet.GoReviewer

	functions *assist.Functions
	other     otherFiles
	stderr    io.Writer
	logged    sync.Map // messages that are logged only once
	started   sync.Once
	maxWait   time.Duration // the constant, except in tests
}

// Run implements celadon lsp: it serves until its input ends, the editor sends exit, or the process
// that started it has ended. Its error carries the exit code.
func Run(ctx context.Context, streams command.Streams, o *Options) error {
	s := newServer(o, streams.Stderr)
	if _, _, err := s.configure(ctx, asBefore); err != nil {
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
	s := &server{rounds: newSchedule(), functions: &assist.Functions{}, settings: settings{KubeVersion: o.KubeVersion}, stderr: stderr, maxWait: maxWait}
	s.docs.all, s.docs.news = map[string]*document{}, make(chan struct{})
	return s
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

// notified handles a notification. Unknown notifications are ignored.
func (s *server) notified(method string, params json.RawMessage) {
	if n := notifications[method]; n != nil {
		_ = n(s, params) // a notification has no response, so errors are dropped
	}
}

type notification func(*server, json.RawMessage) error

func take[P any](do func(*server, P)) notification {
	return func(s *server, data json.RawMessage) error {
		var p P
		if err := json.Unmarshal(data, &p); err != nil {
			return err
		}
		do(s, p)
		return nil
	}
}

var notifications = map[string]notification{
	"initialized":                         func(s *server, _ json.RawMessage) error { s.started.Do(s.start); return nil },
	"exit":                                func(s *server, _ json.RawMessage) error { s.exit(); return nil },
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
	early, late := !s.initialized && method != "initialize", s.shutDown
	s.mu.Unlock()
	switch {
	case early:
		return failed(&jsonrpc.Error{Code: notInitialized, Message: "the first request must be initialize"})
	case late:
		return failed(&jsonrpc.Error{Code: jsonrpc.InvalidParams, Message: "the server is shut down"})
	}
	if r := requests[method]; r != nil {
		return r(s, params)
	}
	return nil
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

// answer returns a request whose parameters are decoded as P.
func answer[P any](do func(*server, P) func(context.Context) (any, error)) request {
	return func(s *server, data json.RawMessage) func(context.Context) (any, error) {
		var p P
		if err := json.Unmarshal(data, &p); err != nil && len(data) > 0 {
			return failed(&jsonrpc.Error{Code: jsonrpc.InvalidParams, Message: err.Error()})
		}
		return do(s, p)
	}
}

var requests map[string]request

func init() {
	requests = map[string]request{
		"initialize":                 answer((*server).initialize),
		"shutdown":                   answer((*server).shutdown),
		"textDocument/hover":         at((*view).hover),
		"textDocument/completion":    at((*view).completion),
		"textDocument/signatureHelp": at((*view).signatureHelp),
		"textDocument/definition":    at((*view).definition),
		"textDocument/inlayHint":     of((*view).hints),
		"textDocument/codeAction":    answer((*server).codeAction),
	}
}

func (s *server) didChangeWatchedFiles(p protocol.DidChangeWatchedFiles) {
	for _, c := range p.Changes {
		s.rounds.reread(pathOf(c.URI))
		s.fileChanged(pathOf(c.URI))
	}
}

// didSave supports editors that do not watch files.
func (s *server) didSave(p protocol.Of) { s.fileChanged(pathOf(p.TextDocument.URI)) }

func (s *server) didChangeWorkspaceFolders(p protocol.DidChangeWorkspaceFolders) {
	s.mu.Lock()
	for _, f := range p.Event.Removed {
		s.roots = slices.DeleteFunc(s.roots, func(root string) bool { return root == pathOf(f.URI) })
	}
	var added []string
	for _, f := range p.Event.Added {
		if path := pathOf(f.URI); filepath.IsAbs(path) && !slices.Contains(s.roots, path) {
			added = append(added, path)
		}
	}
	s.roots = append(s.roots, added...)
	s.mu.Unlock()
	s.forget()
	s.startSearch(added)
	s.fileChanged(config.Name) // another file may be at the top now
}

// forget drops the CRDs of files that are no longer in a workspace folder.
func (s *server) forget() {
	for _, path := range s.crds.paths() {
		if root, _ := s.folderOf(path); root == "" {
			s.rounds.reread(path)
		}
	}
}

func (s *server) didChangeConfiguration(p struct {
	Settings json.RawMessage `json:"settings"`
}) {
	s.reconfigure(func(before settings) (settings, error) { return parseSettings(p.Settings, before) })
}

func (s *server) shutdown(struct{}) func(context.Context) (any, error) {
	s.mu.Lock()
	s.shutDown = true
	s.mu.Unlock()
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	s.docs.ended = true
	s.docs.wakeWaiting()
	return func(context.Context) (any, error) { return nil, nil }
}

func (s *server) exit() {
	s.mu.Lock()
	s.exited = true
	s.mu.Unlock()
	s.conn.Close()
}

// guard calls do, which handles untrusted data. It reports a panic and recovers from it.
func (s *server) guard(task string, do func()) {
	defer func() {
		if v := recover(); v != nil {
			s.bug(task, v)
		}
	}()
	do()
}

// bug reports an internal error in the editor's log, and its stack on stderr.
func (s *server) bug(task string, v any) {
	s.log(protocol.Error, fmt.Sprintf("%s: internal error in celadon: %v", task, v))
	untrusted.Fprintf(untrusted.NewWriter(s.stderr), "celadon: %s: internal error in celadon: %s\n%s\n", task, fmt.Sprint(v), string(debug.Stack()))
}

// once logs a message unless it has been logged before.
func (s *server) once(level protocol.Severity, message string) {
	if _, told := s.logged.LoadOrStore(message, true); !told {
		s.log(level, message)
	}
}

func (s *server) initialize(p protocol.Initialize) func(context.Context) (any, error) {
	s.mu.Lock()
	s.initialized, s.client = true, p
	folders := p.WorkspaceFolders
	if len(folders) == 0 && p.RootURI != "" {
		folders = []protocol.WorkspaceFolder{{URI: p.RootURI}}
	}
	for _, f := range folders {
		if path := pathOf(f.URI); filepath.IsAbs(path) && !slices.Contains(s.roots, path) {
			s.roots = append(s.roots, path)
		}
	}
	s.mu.Unlock()
	_, _, err := s.configure(s.ctx, func(before settings) (settings, error) { return parseSettings(p.Options, before) })
	if err != nil {
		s.log(protocol.Error, "initializationOptions: "+err.Error())
		_, _, _ = s.configure(s.ctx, asBefore) // the settings in the workspace still apply
	}
	return func(context.Context) (any, error) { return capabilities(), nil }
}

func capabilities() protocol.Initialized {
	var i protocol.Initialized
	i.ServerInfo.Name, i.ServerInfo.Version = "celadon", command.Version()
	c := &i.Capabilities
	c.PositionEncoding = "utf-16"
	c.TextDocumentSync.OpenClose, c.TextDocumentSync.Change, c.TextDocumentSync.Save = true, 2, true
	c.HoverProvider, c.DefinitionProvider, c.InlayHintProvider = true, true, true
	c.CompletionProvider.TriggerCharacters = []string{".", "?"}
	c.SignatureHelpProvider.TriggerCharacters = []string{"(", ","}
	c.CodeActionProvider.CodeActionKinds = []string{quickFix, fixAll}
	c.Workspace.WorkspaceFolders.Supported, c.Workspace.WorkspaceFolders.ChangeNotifications = true, true
	return i
}

// parentEvery is the interval for checking whether the editor is still running.
const parentEvery = 3 * time.Second

// start starts background work after the editor has initialized.
func (s *server) start() {
	if s.client.ProcessID != nil {
		go s.watchParent(*s.client.ProcessID)
	}
	s.startSearch(s.folders())
	if s.client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		go func() {
			_ = s.conn.Call(s.ctx, "client/registerCapability", protocol.Registration{Registrations: []protocol.Registered{{
				ID: "files", Method: "workspace/didChangeWatchedFiles",
				Options: protocol.Watchers{Watchers: []protocol.Watcher{{GlobPattern: "**/*.{yaml,yml,json}"}}},
			}}}, nil) // an editor without this method reports files only when they are opened
		}()
	}
}

// watchParent ends the server when the editor's process ends, in case the stream stays open.
func (s *server) watchParent(pid int) {
	tick := time.NewTicker(parentEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			if gone(pid) {
				s.conn.Close()
				return
			}
		}
	}
}
