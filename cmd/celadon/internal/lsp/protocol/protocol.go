// Package protocol is what celadon lsp speaks of the Language Server Protocol, version
// 3.17, in its words and its JSON. See
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/.
package protocol

import "encoding/json"

// Position is a place in a document, from 0. Characters are UTF-16 code units.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Range is from a position up to another, which is not in it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a range in some document.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// TextDocument names a document, and where it is known its version.
type TextDocument struct {
	URI     string `json:"uri"`
	Version *int32 `json:"version,omitempty"`
}

// At is a place in a document, as most requests have it.
type At struct {
	TextDocument TextDocument `json:"textDocument"`
	Position     Position     `json:"position"`
}

// Of names the document that a request is about.
type Of struct {
	TextDocument TextDocument `json:"textDocument"`
}

// In is a range of a document.
type In struct {
	TextDocument TextDocument `json:"textDocument"`
	Range        Range        `json:"range"`
}

// TextEdit puts a text in place of a range.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// WorkspaceEdit changes documents, by their URIs.
type WorkspaceEdit struct {
	Changes map[string][]TextEdit `json:"changes"`
}

// Command is something that the server does when it is asked to.
type Command struct {
	Title     string            `json:"title"`
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments,omitempty"`
}

// DidOpen, DidChange, DidSave and DidClose tell of documents in the editor.
type DidOpen struct {
	TextDocument struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    int32  `json:"version"`
		Text       string `json:"text"`
	} `json:"textDocument"`
}

type DidChange struct {
	TextDocument   TextDocument `json:"textDocument"`
	ContentChanges []Change     `json:"contentChanges"`
}

type DidClose struct {
	TextDocument TextDocument `json:"textDocument"`
}

// Change replaces a range, or without one the whole text.
type Change struct {
	Range *Range `json:"range,omitempty"`
	Text  string `json:"text"`
}

// DidChangeWatchedFiles tells of files on disk.
type DidChangeWatchedFiles struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

// DidChangeWorkspaceFolders tells of folders.
type DidChangeWorkspaceFolders struct {
	Event struct {
		Added   []WorkspaceFolder `json:"added"`
		Removed []WorkspaceFolder `json:"removed"`
	} `json:"event"`
}

// Severity is how bad something is.
type Severity int

// The severities.
const (
	Error Severity = 1 + iota
	Warning
	Information
	Hint
)

// Diagnostic is one thing said of a range.
type Diagnostic struct {
	Range       Range       `json:"range"`
	Severity    Severity    `json:"severity"`
	Code        string      `json:"code,omitempty"`
	Description *CodeAt     `json:"codeDescription,omitempty"`
	Source      string      `json:"source"`
	Message     string      `json:"message"`
	Related     []Related   `json:"relatedInformation,omitempty"`
	Data        interface{} `json:"data,omitempty"`
}

// CodeAt is where a code is described.
type CodeAt struct {
	Href string `json:"href"`
}

// Related is another place that a diagnostic is about.
type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// PublishDiagnostics are all of a document's.
type PublishDiagnostics struct {
	URI         string       `json:"uri"`
	Version     *int32       `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Markup is a text to be shown.
type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Hover is what is known of a range.
type Hover struct {
	Contents Markup `json:"contents"`
	Range    *Range `json:"range,omitempty"`
}

// CompletionItem is one text that fits.
type CompletionItem struct {
	Label    string    `json:"label"`
	Kind     int       `json:"kind,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	Doc      *Markup   `json:"documentation,omitempty"`
	SortText string    `json:"sortText,omitempty"`
	Filter   string    `json:"filterText,omitempty"`
	TextEdit *TextEdit `json:"textEdit,omitempty"`
}

// The kinds of completion items that there are.
const (
	KindMethod   = 2
	KindFunction = 3
	KindField    = 5
	KindVariable = 6
	KindValue    = 12
	KindKeyword  = 14
)

// CompletionList is all that fits.
type CompletionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []CompletionItem `json:"items"`
}

// SignatureHelp are the ways to call what the cursor is in.
type SignatureHelp struct {
	Signatures      []Signature `json:"signatures"`
	ActiveSignature uint32      `json:"activeSignature"`
	ActiveParameter uint32      `json:"activeParameter"`
}

// Signature is one way to call a function.
type Signature struct {
	Label      string      `json:"label"`
	Doc        *Markup     `json:"documentation,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
}

// Parameter is a part of its signature's label.
type Parameter struct {
	Label string `json:"label"`
}

// CodeActionParams ask what can be done in a range.
type CodeActionParams struct {
	TextDocument TextDocument `json:"textDocument"`
	Range        Range        `json:"range"`
	Context      struct {
		Diagnostics []json.RawMessage `json:"diagnostics"`
		Only        []string          `json:"only"`
	} `json:"context"`
}

// CodeAction is something that can be done.
type CodeAction struct {
	Title       string            `json:"title"`
	Kind        string            `json:"kind,omitempty"`
	Diagnostics []json.RawMessage `json:"diagnostics,omitempty"`
	IsPreferred bool              `json:"isPreferred,omitempty"`
	Edit        *WorkspaceEdit    `json:"edit,omitempty"`
	Command     *Command          `json:"command,omitempty"`
}

// CodeLens is a line above a range that may do something.
type CodeLens struct {
	Range   Range    `json:"range"`
	Command *Command `json:"command,omitempty"`
}

// InlayHint is a text within a line that is not the document's.
type InlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	Tooltip     string   `json:"tooltip,omitempty"`
	PaddingLeft bool     `json:"paddingLeft,omitempty"`
}

// DocumentSymbol is a thing with a name in a document.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children,omitempty"`
}

// The kinds of symbols that there are.
const (
	SymbolClass  = 5
	SymbolField  = 8
	SymbolMethod = 6
	SymbolEvent  = 24
)

// SemanticTokens are five numbers each, relative to the token before.
type SemanticTokens struct {
	Data []uint32 `json:"data"`
}

// ExecuteCommandParams ask for a command.
type ExecuteCommandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

// LogMessage is for whoever looks for it, ShowMessage for everybody.
type LogMessage struct {
	Type    Severity `json:"type"`
	Message string   `json:"message"`
}
