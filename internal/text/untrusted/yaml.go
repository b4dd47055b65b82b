package untrusted

import (
	"bytes"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/internal/yaml/emit"
)

// YAML formats v like emit.YAML, but puts strings that a Writer would escape in double
// quotes. The escape sequences of a Writer keep their meaning there, as they do in JSON.
func YAML(v any) ([]byte, error) {
	data, err := emit.YAML(v)
	if err == nil && string(Text(string(data))) == string(data) {
		return data, nil
	}
	if emit.IsDeep(v) {
		data, err := emit.Flow(v)
		return []byte(Text(string(data))), err
	}
	var root yaml3.Node
	if err := root.Encode(v); err != nil { // data may be invalid, or emit.YAML may have failed
		return nil, err
	}
	Quote(&root)
	var b bytes.Buffer
	enc := yaml3.NewEncoder(&b)
	enc.SetIndent(2)
	enc.CompactSeqIndent() // like sigs.k8s.io/yaml
	if err := enc.Encode(&root); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// Quote puts the strings in a tree that a Writer would escape in double quotes.
func Quote(n *yaml3.Node) {
	if n.Kind == yaml3.ScalarNode && string(Text(n.Value)) != n.Value {
		n.Style = yaml3.DoubleQuotedStyle
	}
	for _, below := range n.Content {
		Quote(below)
	}
}
