// Package position knows where things stand in a YAML or JSON text, and changes
// the text there and nowhere else.
//
//	d, err := position.Parse(text)
//	key, value := d.Find(position.Path{position.Key("spec"), position.Key("rules"), position.Item(0)})
//	at := d.Position(key.Start)                          // line and column
//	words, ok := d.Text(value)                           // between a scalar's value and its source
//	edited, err := d.Edit(position.Set(path, int64(64)))  // every other byte is the same
//
// It does no I/O. A Document is immutable and safe for concurrent use. Offsets
// count bytes. Whoever wrote the text may be hostile: the work is linear in it,
// aliases are never expanded, and nesting ends at 10,000.
package position

// How it works. The parser of go.yaml.in/yaml/v3 says what a YAML text means and
// where each node begins; encoding/json says it of JSON, which YAML parsers do
// not all take (surrogate pairs, long keys). Neither says where a node ends, nor
// which bytes of the source a character of a scalar comes from. A matcher finds
// out: it walks over the source by the rules of the scalar's style and holds each
// step against the value that the parser gave. So there is no second reading of
// YAML that could differ from the parser's: where the two disagree, the extent of
// the node is not known (Node.Known), and nothing is said or edited there.
//
// An edit is a splice. What comes out is parsed again, and its tree must be the
// one before but for the change asked for: else Edit is an error that says so,
// and a person is to edit the text.
