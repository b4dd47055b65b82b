package untrusted

import (
	"bytes"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// YAML is a value as sigs.k8s.io/yaml writes it, but that texts with characters
// that a Writer escapes are in double quotes: there, and in JSON, what a Writer
// makes of them is read as the same.
func YAML(v any) ([]byte, error) {
	data, err := yaml.Marshal(v)
	if err == nil && string(Text(string(data))) == string(data) {
		return data, nil
	}
	var root yaml3.Node
	if err := root.Encode(v); err != nil { // data need not be readable, or there may be none
		return nil, err
	}
	Quote(&root)
	var b bytes.Buffer
	enc := yaml3.NewEncoder(&b)
	enc.SetIndent(2)
	enc.CompactSeqIndent() // as the other does
	if err := enc.Encode(&root); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// Quote puts the texts of a tree that a Writer escapes in double quotes.
func Quote(n *yaml3.Node) {
	if n.Kind == yaml3.ScalarNode && string(Text(n.Value)) != n.Value {
		n.Style = yaml3.DoubleQuotedStyle
	}
	for _, below := range n.Content {
		Quote(below)
	}
}
