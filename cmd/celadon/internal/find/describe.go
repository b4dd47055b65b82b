package find

import (
	"bytes"
	"slices"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/internal/text/schemawords"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// describe returns the schema of a version as written in the CRD, for a full sample. It returns nil
// if no full sample is wanted.
func describe(crd *definition, version string, o *Options) schemawords.Node {
	if !o.Full {
		return nil
	}
	versions, _ := schemawords.Node(crd.source).Child("spec")["versions"].([]any)
	for _, v := range versions {
		if v, _ := v.(map[string]any); v["name"] == version {
			return schemawords.Node(v).Child("schema").Child("openAPIV3Schema")
		}
	}
	return nil
}

// document returns an object as YAML, with comments that describe its fields if schema is not nil.
func document(obj map[string]any, schema schemawords.Node) ([]byte, error) {
	data, err := untrusted.YAML(obj)
	if err != nil || schema == nil {
		return data, err
	}
	var root yaml3.Node
	if err := yaml3.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	for _, n := range root.Content {
		annotate(n, schema, "apiVersion", "kind", "metadata") // well-known fields
	}
	var b bytes.Buffer
	enc := yaml3.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&root); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// annotate adds comments to the fields of a value. Only the first of several items or entries gets
// comments.
func annotate(n *yaml3.Node, schema schemawords.Node, known ...string) {
	switch n.Kind {
	case yaml3.MappingNode:
		properties, required := schema.Child("properties"), schema["required"]
		entries := schema.Child("additionalProperties")
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			if slices.Contains(known, name) {
				continue
			}
			field := properties.Child(name)
			if field == nil {
				field, entries = entries, nil
			} else {
				names, _ := required.([]any)
				n.Content[i].HeadComment = comment(field, slices.Contains(names, any(name)))
			}
			annotate(n.Content[i+1], field)
		}
	case yaml3.SequenceNode:
		if len(n.Content) > 0 {
			annotate(n.Content[0], schema.Child("items"))
		}
	}
}

// comment returns the comment for a field: the first sentence of its description, and its type and
// bounds.
func comment(field schemawords.Node, required bool) string {
	var lines []string
	for _, text := range []string{sentence(field.Text("description")), field.Describe(required)} {
		if text != "" {
			lines = append(lines, "# "+string(untrusted.Line(text)))
		}
	}
	return strings.Join(lines, "\n")
}

// widest is the maximum length of a description.
const widest = 120

// sentence returns the first sentence of a description, on one line. A single word, such as
// "Required.", does not count as a sentence.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	word := max(0, strings.Index(text, " "))
	if end := strings.Index(text[min(word+1, len(text)):], ". "); end > 0 {
		text = text[:word+1+end+1]
	}
	if runes := []rune(text); len(runes) > widest {
		text = string(runes[:widest-1]) + "…"
	}
	return text
}
