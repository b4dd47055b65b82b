package find

import (
	"bytes"
	"strings"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/foreign"
)

// description is a schema as it stands in the CRD, with its texts.
type description struct{ schema map[string]any }

// describe is the schema of a version for a full sample; nil where none is
// wanted.
func describe(crd *definition, version string, o *Options) *description {
	if !o.Full {
		return nil
	}
	spec, _ := crd.source["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		if v["name"] != version {
			continue
		}
		outer, _ := v["schema"].(map[string]any)
		inner, _ := outer["openAPIV3Schema"].(map[string]any)
		return &description{inner}
	}
	return nil
}

// document is an object in YAML, with what each field is said to be.
func document(obj map[string]any, doc *description) ([]byte, error) {
	data, err := yaml.Marshal(obj)
	if err != nil || doc == nil {
		return data, err
	}
	var root yaml3.Node
	if err := yaml3.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	for _, n := range root.Content {
		annotate(n, doc.schema)
	}
	var b bytes.Buffer
	enc := yaml3.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&root); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

func annotate(n *yaml3.Node, schema map[string]any) {
	switch n.Kind {
	case yaml3.MappingNode:
		properties, _ := schema["properties"].(map[string]any)
		for i := 0; i+1 < len(n.Content); i += 2 {
			below, ok := properties[n.Content[i].Value].(map[string]any)
			if !ok {
				below, _ = schema["additionalProperties"].(map[string]any)
			} else if text, _ := below["description"].(string); text != "" && len(schema) > 0 {
				n.Content[i].HeadComment = sentence(text)
			}
			annotate(n.Content[i+1], below)
		}
	case yaml3.SequenceNode:
		items, _ := schema["items"].(map[string]any)
		for _, item := range n.Content {
			annotate(item, items)
		}
	}
}

// widest is how long a description may be that is shown whole.
const widest = 120

// sentence is the first of a description, on one line.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if end := strings.Index(text, ". "); end > 0 {
		text = text[:end+1]
	}
	if runes := []rune(text); len(runes) > widest {
		text = string(runes[:widest-1]) + "…"
	}
	return "# " + string(foreign.Line(text))
}
