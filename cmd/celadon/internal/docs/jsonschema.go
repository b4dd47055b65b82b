package docs

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/text/filename"
)

// How it works. An editor validates with JSON Schema draft 7, while a CRD's schema is OpenAPI 3.0 with extensions. Schemas
// are converted by key. An object with properties accepts no others, because the API server would prune them and kubectl
// reports them. CEL rules have no equivalent: they become part of the description.

const draft7 = "http://json-schema.org/draft-07/schema#"

// maxSchemaDepth limits the nesting of a schema. Deeper schemas become schemas that accept any value.
const maxSchemaDepth = 1000

// combined is the name of the file with the schemas of all kinds.
const combined = "all.json"

type object = map[string]any

type schemaFile struct {
	name   string
	schema object
}

func schemaFiles(crds []*apiextensionsv1.CustomResourceDefinition) (files []schemaFile, err error) {
	for _, crd := range crds {
		for _, v := range crd.Spec.Versions {
			if !v.Served {
				continue
			}
			whole := struct {
				OpenAPIV3Schema object `json:"openAPIV3Schema"`
			}{object{}}
			text, err := json.Marshal(v.Schema)
			if err == nil {
				err = json.Unmarshal(text, &whole)
			}
			if err != nil {
				return nil, err
			}
			name := strings.ToLower(crd.Spec.Names.Kind) + "-" + crd.Spec.Group + "-" + v.Name + ".json"
			if _, err := filename.Join("", name); err != nil {
				return nil, err
			}
			files = append(files, schemaFile{name, rootSchema(crd, v.Name, whole.OpenAPIV3Schema)})
		}
	}
	return files, nil
}

// combine refers to the files if separate is set. Otherwise, it includes their schemas.
func combine(files []schemaFile, separate bool) object {
	var branches []any
	for _, f := range files {
		then := any(f.schema)
		if separate {
			then = object{"$ref": f.name}
		}
		of := f.schema["properties"].(object)
		same := object{"apiVersion": of["apiVersion"], "kind": of["kind"]}
		branches = append(branches, object{"if": object{"properties": same, "required": []any{"apiVersion", "kind"}}, "then": then})
	}
	return object{"$schema": draft7, "allOf": branches}
}

func rootSchema(crd *apiextensionsv1.CustomResourceDefinition, version string, props object) object {
	root := converted(props, true, 0)
	fields := withMetadata(root)
	fields["apiVersion"] = object{"type": "string", "const": crd.Spec.Group + "/" + version}
	fields["kind"] = object{"type": "string", "const": crd.Spec.Names.Kind}
	root["$schema"], root["type"] = draft7, "object"
	required, _ := root["required"].([]any)
	for _, name := range []any{"kind", "apiVersion"} {
		if !slices.Contains(required, name) {
			required = slices.Insert(required, 0, name)
		}
	}
	root["required"] = required
	return root
}

// withMetadata adds metadata, or its fields, to a schema and returns its properties.
func withMetadata(of object) object {
	fields, _ := of["properties"].(object)
	if fields == nil {
		fields = object{}
	}
	text, texts := object{"type": "string"}, object{"type": "object", "additionalProperties": object{"type": "string"}}
	meta := object{"name": text, "generateName": text, "namespace": text, "labels": texts, "annotations": texts}
	own, _ := fields["metadata"].(object)
	more, _ := own["properties"].(object)
	maps.Copy(meta, more)
	fields["metadata"] = object{"type": "object", "properties": meta}
	of["properties"] = fields
	return fields
}

// The keys of a schema that are copied, and the keys whose values are lists of schemas.
var (
	copied   = []string{"type", "title", "description", "default", "enum", "format", "required", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "multipleOf"}
	branches = []string{"allOf", "anyOf", "oneOf"}
)

// converted returns a schema as JSON Schema. An object with properties in a structural schema accepts
// no other fields, unless it preserves unknown fields. Objects of schemas in not, allOf, and so on
// accept them.
func converted(from object, structural bool, depth int) object {
	to := object{}
	if depth > maxSchemaDepth {
		return to
	}
	for _, key := range copied {
		if value, ok := from[key]; ok {
			to[key] = value
		}
	}
	for limit, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		if value, ok := from[limit]; ok && from[exclusive] == true {
			to[exclusive] = value
		} else if ok {
			to[limit] = value
		}
	}
	for _, key := range branches {
		if list, ok := from[key].([]any); ok {
			to[key] = each(list, depth)
		}
	}
	if not, ok := from["not"].(object); ok {
		to["not"] = converted(not, false, depth+1)
	}
	if items, ok := from["items"].(object); ok {
		to["items"] = converted(items, structural, depth+1)
	}
	open := !structural || from["x-kubernetes-preserve-unknown-fields"] == true
	if props, ok := from["properties"].(object); ok {
		fields := object{}
		for name, schema := range props {
			schema, _ := schema.(object)
			fields[name] = converted(schema, structural, depth+1)
		}
		to["properties"] = fields
		if !open {
			to["additionalProperties"] = false
		}
	}
	if values, ok := from["additionalProperties"].(object); ok {
		to["additionalProperties"] = converted(values, structural, depth+1)
	}
	if from["x-kubernetes-embedded-resource"] == true {
		fields := withMetadata(to)
		fields["apiVersion"], fields["kind"] = object{"type": "string"}, object{"type": "string"}
	}
	pattern(to, from)
	types(to, from)
	describe(to, from)
	return to
}

func each(list []any, depth int) (out []any) {
	for _, schema := range list {
		schema, _ := schema.(object)
		out = append(out, converted(schema, false, depth+1))
	}
	return out
}

func types(to, from object) {
	if from["x-kubernetes-int-or-string"] == true {
		to["type"] = []any{"integer", "string"}
		delete(to, "anyOf") // the same types
	}
	if from["nullable"] != true {
		return
	}
	switch known := to["type"].(type) {
	case string:
		to["type"] = []any{known, "null"}
	case []any:
		to["type"] = append(known, "null")
	}
	if values, ok := to["enum"].([]any); ok && !slices.Contains(values, nil) {
		to["enum"] = append(slices.Clone(values), nil)
	}
}

// goOnly matches the syntax of Go's regular expressions that JavaScript does not have, or understands differently.
var (
	goOnly  = regexp.MustCompile(`\(\?[a-zA-Z-]*[:)]|\\[ACQEzaG]|\\[pP][^{]|\[\[:|\\x\{|\\_`)
	goGroup = strings.NewReplacer("(?P<", "(?<")
)

// pattern sets the pattern, if JavaScript understands it. A non-capturing group is the same in both.
func pattern(to, from object) {
	text, ok := from["pattern"].(string)
	if !ok {
		return
	}
	text = goGroup.Replace(text)
	if rest := strings.ReplaceAll(text, "(?:", "("); !goOnly.MatchString(rest) {
		to["pattern"] = text
	}
}

func describe(to, from object) {
	var lines []string
	if _, ok := to["pattern"]; !ok && from["pattern"] != nil {
		lines = append(lines, "- pattern: "+from["pattern"].(string))
	}
	rules, _ := from["x-kubernetes-validations"].([]any)
	for _, one := range rules {
		one, _ := one.(object)
		rule, _ := one["rule"].(string)
		message, _ := one["message"].(string)
		lines = append(lines, "- "+cmp.Or(message, rule))
		if message != "" {
			lines[len(lines)-1] += " (" + rule + ")"
		}
	}
	if len(lines) > 0 {
		text, _ := from["description"].(string)
		to["description"] = strings.TrimSpace(text + "\n\nRules:\n" + strings.Join(lines, "\n"))
	}
}
