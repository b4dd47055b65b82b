package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

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
	c.HoverProvider, c.DefinitionProvider, c.ReferencesProvider, c.DocumentSymbolProvider, c.InlayHintProvider = true, true, true, true, true
	c.CompletionProvider.TriggerCharacters = []string{".", "?"}
	c.SignatureHelpProvider.TriggerCharacters = []string{"(", ","}
	c.CodeActionProvider.CodeActionKinds = []string{quickFix, fixAll}
	c.SemanticTokensProvider.Legend = protocol.Legend{TokenTypes: tokenTypes, TokenModifiers: []string{}}
	c.SemanticTokensProvider.Full = true
	c.ExecuteCommandProvider.Commands = []string{runSuite}
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
