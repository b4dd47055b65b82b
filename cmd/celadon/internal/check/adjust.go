package check

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/render"
)

// An adjustment changes objects as other tools do before they send them to a server: SOPS and others remove their own fields,
// and Flux substitutes variables.
type adjustment struct {
	ignored   [][]string
	variables map[string]string // nil if nothing is substituted
}

func (o *Options) adjustment() (*adjustment, error) {
	if len(o.IgnoreFields) == 0 && len(o.Substitute) == 0 {
		return nil, nil
	}
	a := &adjustment{}
	for _, field := range o.IgnoreFields {
		path := strings.Split(field, ".")
		for _, name := range path {
			if name == "" || strings.ContainsAny(name, "[]*") {
				return nil, fmt.Errorf("--ignore-field %q: want a field, such as sops or spec.template", field)
			}
		}
		a.ignored = append(a.ignored, path)
	}
	for _, from := range o.Substitute {
		if a.variables == nil {
			a.variables = map[string]string{}
		}
		if err := a.read(from); err != nil {
			return nil, fmt.Errorf("--substitute %s: %w", from, err)
		}
	}
	return a, nil
}

const maxVariables = 1 << 20

// read adds the environment variables if from is env, or else the variables in a file with a ConfigMap, a Secret,
// or a mapping.
func (a *adjustment) read(from string) error {
	if from == "env" {
		for _, entry := range os.Environ() {
			name, value, _ := strings.Cut(entry, "=")
			a.variables[name] = value
		}
		return nil
	}
	data, err := input.ReadFile(from, maxVariables)
	if err != nil {
		return err
	}
	var given struct {
		Kind             string            `json:"kind"`
		Data, StringData map[string]string `json:",omitempty"`
	}
	if err := yaml.Unmarshal(data, &given); err == nil && given.Kind == "" {
		given.Data = nil
		if err := yaml.Unmarshal(data, &given.Data); err != nil {
			return errors.New("want a ConfigMap, a Secret, or a mapping of names to strings")
		}
	} else if err != nil {
		return err
	}
	for name, value := range given.Data {
		if given.Kind == "Secret" {
			decoded, err := base64.StdEncoding.DecodeString(value)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			value = string(decoded)
		}
		a.variables[name] = value
	}
	for name, value := range given.StringData {
		a.variables[name] = value
	}
	return nil
}

func (o *Options) adjusted(source batch.Source) batch.Source {
	if o.adjust == nil {
		return source
	}
	return func(wait func(), yield func(input.Chunk) bool) {
		source(wait, func(c input.Chunk) bool { return yield(o.adjust.chunk(c)) })
	}
}

func (a *adjustment) chunk(c input.Chunk) input.Chunk {
	if a == nil {
		return c
	}
	before := c.Expand
	c.Expand = func(doc *input.Document) []*input.Document {
		docs := []*input.Document{doc}
		if before != nil {
			docs = before(doc)
		}
		for i := range docs {
			docs[i] = a.document(docs[i])
		}
		return docs
	}
	return c
}

func (a *adjustment) document(doc *input.Document) *input.Document {
	if doc.Err != nil || doc.Object == nil {
		return doc
	}
	object, changed := doc.Object, false
	for _, path := range a.ignored {
		changed = remove(object, path) || changed
	}
	if a.variables != nil && substitutes(object) {
		text, err := yaml.Marshal(object)
		replaced := ""
		if err == nil {
			replaced, err = a.substitute(string(text))
		}
		if err == nil && replaced != string(text) {
			object, changed = nil, true
			for d := range (input.Text{Data: []byte(replaced)}).Documents {
				object, err = d.Object, d.Err
			}
		}
		if err != nil {
			out := *doc
			out.Err = fmt.Errorf("--substitute: %w", err)
			return &out
		}
	}
	if !changed {
		return doc
	}
	return doc.Changed(object)
}

func remove(object map[string]any, path []string) bool {
	for _, name := range path[:len(path)-1] {
		object, _ = object[name].(map[string]any)
	}
	last := path[len(path)-1]
	_, ok := object[last]
	delete(object, last)
	return ok
}

// substitutes reports whether Flux substitutes variables in an object.
func substitutes(object map[string]any) bool {
	for _, key := range []string{"labels", "annotations"} {
		values, _ := input.Metadata(object)[key].(map[string]any)
		if values["kustomize.toolkit.fluxcd.io/substitute"] == "disabled" {
			return false
		}
	}
	return true
}

// maxSubstituted limits the output of substitute, in bytes, because variables can be repeated. It is checked after
// each value.
const maxSubstituted = 8 << 20

var variable = regexp.MustCompile(`\$?\$\{([^{}]*)\}`)

var variableParts = regexp.MustCompile(`^([_A-Za-z][_A-Za-z0-9]*)(?:(:?[-=])(.*))?$`)

// substitute replaces ${NAME}, ${NAME:=DEFAULT}, and similar forms with a default in the YAML of an object.
// $${NAME} becomes ${NAME}. An undefined variable without a default is empty.
func (a *adjustment) substitute(text string) (string, error) {
	var b strings.Builder
	end := 0
	for _, at := range variable.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[end:at[0]])
		end = at[1]
		if strings.HasPrefix(text[at[0]:], "$$") {
			b.WriteString(text[at[0]+1 : at[1]])
			continue
		}
		parts := variableParts.FindStringSubmatch(text[at[2]:at[3]])
		if parts == nil {
			return "", fmt.Errorf("%s: want ${NAME} or ${NAME:=DEFAULT}: other functions of Bash are not supported", text[at[0]:at[1]])
		}
		value, ok := a.variables[parts[1]]
		if !ok || value == "" && strings.HasPrefix(parts[2], ":") {
			value = parts[3]
		}
		if b.WriteString(value); b.Len() > maxSubstituted {
			return "", fmt.Errorf("more than %d MiB after the substitution", maxSubstituted>>20)
		}
	}
	b.WriteString(text[end:])
	return b.String(), nil
}

func (o *Options) renders() bool { return len(o.Kustomize) > 0 || len(o.Charts) > 0 }

// Given reports whether the flags name objects, so that no arguments are needed.
func (o *Options) Given() bool { return o.Cluster.On || o.renders() }

func (o *Options) render(ctx context.Context) error {
	o.rendered = nil
	for _, folder := range o.Kustomize {
		out, err := render.Kustomize(ctx, folder)
		if err != nil {
			return fmt.Errorf("--kustomize %s: %w", folder, err)
		}
		o.rendered = append(o.rendered, out.Chunks()...)
	}
	for _, chart := range o.Charts {
		out, err := render.Helm(ctx, chart, o.Values)
		if err != nil {
			return fmt.Errorf("--helm %s: %w", chart, err)
		}
		o.rendered = append(o.rendered, out.Chunks()...)
	}
	return nil
}

func (o *Options) withRendered(source batch.Source) batch.Source {
	if len(o.rendered) == 0 {
		return source
	}
	return func(wait func(), yield func(input.Chunk) bool) {
		more := true
		source(wait, func(c input.Chunk) bool {
			more = yield(c)
			return more
		})
		for _, c := range o.rendered {
			if !more {
				return
			}
			more = yield(o.adjust.chunk(c))
		}
	}
}
