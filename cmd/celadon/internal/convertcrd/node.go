package convertcrd

import "go.yaml.in/yaml/v3"

// pair is a key of a mapping and its value; nil where there is none.
func pair(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

func get(n *yaml.Node, name string) *yaml.Node {
	_, value := pair(n, name)
	return value
}

// empty is true of a value that says nothing: it is not there, null or the empty
// text.
func empty(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || n.Value == "")
}

// take removes a key and gives its value; nil where there is none.
func take(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			value := n.Content[i+1]
			n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
			return value
		}
	}
	return nil
}

// put adds a key behind the others.
func put(n *yaml.Node, name string, value *yaml.Node) {
	n.Content = append(n.Content, text(name), value)
}

func rename(n *yaml.Node, from, to string) {
	if key, _ := pair(n, from); key != nil {
		key.Value = to
	}
}

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// commented is a key with the comments of another.
func commented(name string, like *yaml.Node) *yaml.Node {
	n := text(name)
	n.HeadComment, n.LineComment, n.FootComment = like.HeadComment, like.LineComment, like.FootComment
	return n
}

func truth() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"} }

// plainCopy is a tree without its comments and anchors.
func plainCopy(n *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value}
	for _, below := range n.Content {
		out.Content = append(out.Content, plainCopy(below))
	}
	return out
}
