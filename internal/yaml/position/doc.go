// Package position maps the values of a YAML or JSON text to positions in the text, and edits the
// text without reformatting it.
//
//	d, err := position.Parse(text)
//	key, value := d.Find(position.Path{position.Key("spec"), position.Key("rules"), position.Item(0)})
//	at := d.Position(key.Start)                          // line and column
//	words, ok := d.Text(value)                           // between a scalar's value and its source
//	edited, err := d.Edit(position.Set(path, int64(64)))  // every other byte is the same
//
// The package performs no I/O. A Document is immutable and safe for concurrent use. Offsets count
// bytes. The text may be untrusted: parsing takes linear time, aliases are never expanded, and
// nesting is limited to 10,000 levels.
package position

// How it works: the parser of go.yaml.in/yaml/v3 defines the value of a YAML text and where each
// node begins. For JSON, encoding/json does, because YAML parsers do not accept all of JSON
// (surrogate pairs, long keys). Neither reports where a node ends, nor which bytes of the source a
// character of a scalar comes from. A matcher determines both: it follows the source by the rules
// of the scalar's style, and compares each step with the value from the parser. The package thus
// never interprets YAML differently from the parser. Where the two disagree, the end of the node is
// unknown (Node.Known), and the package neither reports positions in the node nor edits it.
//
// An edit is a splice. The result is parsed again, and its tree must equal the old tree with the
// requested changes. Otherwise Edit returns an error, and the user has to edit the text by hand.
