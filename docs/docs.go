// Package docs contains the documentation that the command shows in its help.
package docs

import _ "embed" // for Lints

// Lints is the page about lints, in Markdown. It has a section for each.
//
//go:embed lints.md
var Lints string
