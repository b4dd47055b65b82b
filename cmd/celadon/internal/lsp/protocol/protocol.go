// Package protocol defines the part of the Language Server Protocol, version 3.17, that celadon lsp
// uses. Names and JSON follow the protocol. See
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/.
package protocol

import "encoding/json"

// A Position is a position in a document. Line and Character start at 0. Characters are UTF-16 code
// units.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// A Range extends from Start up to, but not including, End.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// A Location is a range in a document.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// A TextDocument identifies a document and, if known, its version. The language and text are only set when a document
// is opened.
type TextDocument struct {
	URI        string `json:"uri"`
	Version    *int32 `json:"version,omitempty"`
	LanguageID string `json:"languageId,omitempty"`
	Text       string `json:"text,omitempty"`
}

// Params are the parameters of messages about a document. Each message uses some of the fields.
type Params struct {
	TextDocument   TextDocument `json:"textDocument"`
	ContentChanges []Change     `json:"contentChanges,omitempty"`
	Position       Position     `json:"position"`
	Range          Range        `json:"range"`
	Context        struct {
		Diagnostics []json.RawMessage `json:"diagnostics"`
		Only        []string          `json:"only"`
	} `json:"context"`
}

// A TextEdit replaces a range by a text.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// A WorkspaceEdit changes documents. Changes has an entry for each URI.
type WorkspaceEdit struct {
	Changes map[string][]TextEdit `json:"changes"`
}

// A Change replaces a range, or the whole text if Range is nil.
type Change struct {
	Range *Range `json:"range,omitempty"`
	Text  string `json:"text"`
}

// Initialize holds the parameters of the first request of the editor.
type Initialize struct {
	ProcessID        *int            `json:"processId"`
	RootURI          string          `json:"rootUri"`
	WorkspaceFolders []Folder        `json:"workspaceFolders"`
	Options          json.RawMessage `json:"initializationOptions"`
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

// A Folder is a workspace folder.
type Folder struct {
	URI string `json:"uri"`
}

// DidChangeWatchedFiles reports changed files on disk.
type DidChangeWatchedFiles struct {
	Changes []TextDocument `json:"changes"`
}

// DidChangeWorkspaceFolders reports added and removed workspace folders.
type DidChangeWorkspaceFolders struct {
	Event struct {
		Added   []Folder `json:"added"`
		Removed []Folder `json:"removed"`
	} `json:"event"`
}

// A Severity is the severity of a diagnostic or log message.
type Severity int

const (
	Error Severity = 1 + iota
	Warning
	Information
)

// A Diagnostic is a finding in a range.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity Severity        `json:"severity"`
	Code     string          `json:"code,omitempty"`
	Source   string          `json:"source"`
	Message  string          `json:"message"`
	Related  []Related       `json:"relatedInformation,omitempty"`
	Data     *DiagnosticData `json:"data,omitempty"`
	// Advice is the path in the CRD of the bound that the finding advises, or "". It is not sent.
	Advice string `json:"-"`
}

// DiagnosticData identifies the finding of a diagnostic. Clients return it with a request for actions, so
// that actions do not depend on messages.
type DiagnosticData struct {
	// Kind is the kind of the cause (engine.CauseKind), or "".
	Kind string `json:"kind,omitempty"`
	// Field is the path of a lint's rule in the CRD, and Read the field that the rule reads.
	Field string `json:"field,omitempty"`
	Read  string `json:"read,omitempty"`
}

// A Related is another location that a diagnostic refers to.
type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// PublishDiagnostics holds all diagnostics of a document.
type PublishDiagnostics struct {
	URI         string       `json:"uri"`
	Version     *int32       `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// A Markup is a text with its format.
type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// A Hover describes a range.
type Hover struct {
	Contents Markup `json:"contents"`
	Range    *Range `json:"range,omitempty"`
}

// A CompletionItem is a proposal in a completion list.
type CompletionItem struct {
	Label    string    `json:"label"`
	Kind     int       `json:"kind,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	Doc      Markup    `json:"documentation,omitzero"`
	SortText string    `json:"sortText,omitempty"`
	Filter   string    `json:"filterText,omitempty"`
	TextEdit *TextEdit `json:"textEdit,omitempty"`
}

// Kinds of completion items.
const (
	KindMethod   = 2
	KindFunction = 3
	KindField    = 5
	KindVariable = 6
	KindValue    = 12
	KindKeyword  = 14
)

// A CompletionList holds proposals.
type CompletionList struct {
	IsIncomplete bool             `json:"isIncomplete"` // always false, but required by the protocol
	Items        []CompletionItem `json:"items"`
}

// SignatureHelp holds the signatures of the call around the cursor.
type SignatureHelp struct {
	Signatures      []Signature `json:"signatures"`
	ActiveSignature uint32      `json:"activeSignature"`
	ActiveParameter uint32      `json:"activeParameter"`
}

// A Signature describes an overload of a function.
type Signature struct {
	Label      string      `json:"label"`
	Doc        Markup      `json:"documentation,omitzero"`
	Parameters []Parameter `json:"parameters,omitempty"`
}

// A Parameter is a substring of its signature's label.
type Parameter struct {
	Label string `json:"label"`
}

// A CodeAction is an edit that is offered to the user.
type CodeAction struct {
	Title       string            `json:"title"`
	Kind        string            `json:"kind,omitempty"`
	Diagnostics []json.RawMessage `json:"diagnostics,omitempty"`
	IsPreferred bool              `json:"isPreferred,omitempty"`
	Edit        *WorkspaceEdit    `json:"edit,omitempty"`
}

// An InlayHint is a text that is shown within a line but does not belong to the document.
type InlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	Tooltip     string   `json:"tooltip,omitempty"`
	PaddingLeft bool     `json:"paddingLeft,omitempty"`
}
