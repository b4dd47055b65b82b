package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// Own is a case written for Celadon, a txtar file in testdata. See testdata/README.md for the
// format.
type Own struct {
	*Case
	file    string
	archive *txtar.Archive
}

// options holds the content of case.yaml.
type options struct {
	Version         string `json:"version"`
	Subresource     string `json:"subresource"`
	FieldValidation string `json:"fieldValidation"`
	Namespace       string `json:"namespace"`
	Ratcheting      bool   `json:"ratcheting"`
}

// ReadOwn reads the cases in a folder.
func ReadOwn(dir string) ([]*Own, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var out []*Own
	for _, file := range files {
		own, err := readOwn(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, own)
	}
	return out, nil
}

func readOwn(file string) (*Own, error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return nil, err
	}
	o := &Own{file: file, archive: archive}
	if err := o.checkSections(); err != nil {
		return nil, err
	}
	definition, err := parseCRD(o.section("crd.yaml"))
	if err != nil {
		return nil, fmt.Errorf("crd.yaml: %w", err)
	}
	var opts options
	if err := yaml.UnmarshalStrict(o.section("case.yaml"), &opts); err != nil {
		return nil, fmt.Errorf("case.yaml: %w", err)
	}
	o.Case = &Case{
		ID: strings.TrimSuffix(filepath.Base(file), ".txtar"), CRD: &CRD{Path: file, Definition: definition},
		Version: opts.Version, Subresource: opts.Subresource, FieldValidation: opts.FieldValidation,
		Namespace: opts.Namespace, Ratcheting: opts.Ratcheting,
	}
	if o.Version == "" {
		o.Version = definition.Spec.Versions[0].Name
	}
	return o, o.readObjects()
}

// checkSections rejects unknown section names. Otherwise a misspelled old.yaml would turn an update
// into a create.
func (o *Own) checkSections() error {
	for _, f := range o.archive.Files {
		if !slices.Contains([]string{"crd.yaml", "case.yaml", "object.yaml", "object.json", "old.yaml", "want", "want.yaml"}, f.Name) {
			return fmt.Errorf("unknown section %s", f.Name)
		}
	}
	return nil
}

func (o *Own) section(name string) []byte {
	for _, f := range o.archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func (o *Own) readObjects() (err error) {
	if o.Raw = bytes.TrimSpace(o.section("object.json")); len(o.Raw) > 0 {
		return nil
	}
	o.Raw = nil
	if o.Object, err = decodeYAML(o.section("object.yaml")); err != nil {
		return fmt.Errorf("object.yaml: %w", err)
	}
	if o.Object == nil {
		return errors.New("neither object.yaml nor object.json")
	}
	if o.OldObject, err = decodeYAML(o.section("old.yaml")); err != nil {
		return fmt.Errorf("old.yaml: %w", err)
	}
	return nil
}

func decodeYAML(data []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	json, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, err
	}
	return engine.Decode(json)
}

func (o *Own) namespace() string {
	if namespace, ok := metadataOf(o.Object)["namespace"].(string); ok {
		return namespace
	}
	return "default"
}

// want formats a result as the sections want and want.yaml.
func want(a Answer) (text string, object []byte, err error) {
	var b strings.Builder
	verdict := "invalid"
	if a.Allowed {
		verdict = "valid"
	}
	fmt.Fprintf(&b, "%s %d\n", verdict, a.Code)
	if len(a.Causes) < 2 && a.Message != "" {
		fmt.Fprintf(&b, "message %s\n", oneLine(a.Message))
	}
	for _, c := range sortedCauses(a.Causes) {
		fmt.Fprintf(&b, "cause %s\n", oneLine(c.String()))
	}
	for _, w := range slices.Sorted(slices.Values(a.Warnings)) {
		fmt.Fprintf(&b, "warning %s\n", oneLine(w))
	}
	data, err := comparable(a.Object)
	if err != nil || data == nil {
		return b.String(), nil, err
	}
	object, err = yaml.JSONToYAML(data)
	return b.String(), object, err
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

func (o *Own) differs(who string, a Answer) []Difference {
	text, object, err := want(a)
	if err != nil {
		return []Difference{{who, err.Error()}}
	}
	var out []Difference
	if have := string(o.section("want")); have != text {
		out = append(out, Difference{who + ": want", diff(strings.Split(have, "\n"), strings.Split(text, "\n"))})
	}
	if have := o.section("want.yaml"); !bytes.Equal(bytes.TrimSpace(have), bytes.TrimSpace(object)) {
		out = append(out, Difference{who + ": want.yaml", diff(strings.Split(string(have), "\n"), strings.Split(string(object), "\n"))})
	}
	return out
}

// update replaces the want sections in o.archive, and returns the new content of the file.
func (o *Own) update(a Answer) ([]byte, error) {
	text, object, err := want(a)
	if err != nil {
		return nil, err
	}
	o.archive.Files = slices.DeleteFunc(o.archive.Files, func(f txtar.File) bool {
		return f.Name == "want" || f.Name == "want.yaml"
	})
	o.archive.Files = append(o.archive.Files, txtar.File{Name: "want", Data: []byte(text)})
	if object != nil {
		o.archive.Files = append(o.archive.Files, txtar.File{Name: "want.yaml", Data: object})
	}
	return txtar.Format(o.archive), nil
}
