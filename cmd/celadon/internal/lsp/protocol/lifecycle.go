package protocol

import "encoding/json"

// Initialize is the first request of the editor.
type Initialize struct {
	ProcessID        *int              `json:"processId"`
	RootURI          string            `json:"rootUri"`
	WorkspaceFolders []WorkspaceFolder `json:"workspaceFolders"`
	Options          json.RawMessage   `json:"initializationOptions"`
	Capabilities     struct {
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
			InlayHint struct {
				RefreshSupport bool `json:"refreshSupport"`
			} `json:"inlayHint"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

// A WorkspaceFolder is open in the editor.
type WorkspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// Initialized is the response to Initialize.
type Initialized struct {
	Capabilities Capabilities `json:"capabilities"`
	ServerInfo   struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"serverInfo"`
}

// Capabilities describes the features of the server.
type Capabilities struct {
	PositionEncoding string `json:"positionEncoding"`
	TextDocumentSync struct {
		OpenClose bool `json:"openClose"`
		Change    int  `json:"change"`
		Save      bool `json:"save"`
	} `json:"textDocumentSync"`
	HoverProvider      bool `json:"hoverProvider"`
	CompletionProvider struct {
		TriggerCharacters []string `json:"triggerCharacters"`
	} `json:"completionProvider"`
	SignatureHelpProvider struct {
		TriggerCharacters []string `json:"triggerCharacters"`
	} `json:"signatureHelpProvider"`
	DefinitionProvider bool `json:"definitionProvider"`
	CodeActionProvider struct {
		CodeActionKinds []string `json:"codeActionKinds"`
	} `json:"codeActionProvider"`
	InlayHintProvider bool `json:"inlayHintProvider"`
	Workspace         struct {
		WorkspaceFolders struct {
			Supported           bool `json:"supported"`
			ChangeNotifications bool `json:"changeNotifications"`
		} `json:"workspaceFolders"`
	} `json:"workspace"`
}

// A Registration makes the editor send notifications.
type Registration struct {
	Registrations []Registered `json:"registrations"`
}

// A Registered requests notifications of a method.
type Registered struct {
	ID      string `json:"id"`
	Method  string `json:"method"`
	Options any    `json:"registerOptions"`
}

// Watchers selects the files for notifications.
type Watchers struct {
	Watchers []Watcher `json:"watchers"`
}

// A Watcher selects files by a glob.
type Watcher struct {
	GlobPattern string `json:"globPattern"`
}
