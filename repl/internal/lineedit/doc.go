// Package lineedit provides the parts of a line editor on a terminal that are independent of the text
// being edited: keys, painting, completion menus, and history search.
//
// How it works: readline owns the line, the history, and the keys of Emacs. Keys translates the bytes
// of the terminal to keys before readline reads them. Editor sees each key before readline does; it
// passes the key on, replaces it, or replaces the whole line. Screen paints the line and the lines
// below it. Readline does not paint, because it measures wide characters wrongly.
package lineedit

// The keys that readline understands, and the keys that Keys adds in a private range of Unicode.
// Input never contains runes of that range.
const (
	KeyNone      = 0x07 // no effect in readline
	KeyLineStart = 0x01
	KeyLeft      = 0x02
	KeyInterrupt = 0x03
	KeyEOF       = 0x04 // Ctrl-D: deletes a character, or ends the input on an empty line
	KeyLineEnd   = 0x05
	KeyRight     = 0x06
	KeyCancel    = 0x07 // Ctrl-G
	KeyErase     = 0x08
	KeyTab       = 0x09
	KeyNewline   = 0x0a
	KeyEnter     = 0x0d
	KeyDown      = 0x0e
	KeyUp        = 0x10
	KeySearch    = 0x12
	KeySuspend   = 0x1a
	KeyBackspace = 0x7f

	keyFirst = 0xf8e0
	keyLast  = 0xf8ff
)

// Keys in the private range.
const (
	KeyEscape = keyFirst + iota
	KeyBackTab
	KeyDelete
	KeyWordLeft
	KeyWordRight
	KeyWordDelete
	KeyWordErase
	// KeyPaste announces pasted text. It closes menus.
	KeyPaste
)
