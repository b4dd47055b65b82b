package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	libraries "github.com/celadon-cel/celadon/conformance/minors/compare"
	"github.com/celadon-cel/celadon/conformance/suite"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

const (
	suiteFolder  = "suite/data"
	suiteSources = "suite/source"

	examplesFolder = "../examples"

	// generatedCRDs is the number of generated CRDs in the suite, generatedWrites the number of writes of
	// each, and generatedRules the number of rules. Larger CRDs than generatedSize are left out.
	generatedCRDs, generatedWrites, generatedRules = 60, 6, 2
	generatedSize                                  = 6_000
	generatedGroup                                 = "generated"
)

// A suiteSource is a file in suite/source.
type suiteSource struct {
	Group       string      `json:"group"`
	Description string      `json:"description"`
	CRDs        []sourceCRD `json:"crds"`
	// Cases are patterns of cases in testdata.
	Cases    []string        `json:"cases"`
	Examples []sourceExample `json:"examples"`
}

// A sourceCRD is a CRD whose spec has the given fields, or whose root has the given schema.
type sourceCRD struct {
	Name   string                           `json:"name"`
	Schema *apiextensionsv1.JSONSchemaProps `json:"schema"`
	Status *apiextensionsv1.JSONSchemaProps `json:"status"` // with the status subresource
	Fields []sourceField                    `json:"fields"`
	Writes []sourceWrite                    `json:"writes"`
}

// A sourceField is a field of spec with values to create objects with, and pairs of an old and a new
// value to update them with.
type sourceField struct {
	Name    string                          `json:"name"`
	Schema  apiextensionsv1.JSONSchemaProps `json:"schema"`
	Values  []any                           `json:"values"`
	Updates [][2]any                        `json:"updates"`
}

type sourceWrite struct {
	Name            string         `json:"name"`
	Subresource     string         `json:"subresource"`
	FieldValidation string         `json:"fieldValidation"`
	Object          map[string]any `json:"object"`
	Old             map[string]any `json:"old"`
}

type sourceExample struct {
	Name    string   `json:"name"`
	CRD     string   `json:"crd"`
	Objects []string `json:"objects"`
}

type suiteInput struct {
	id, group, crdID string
	crd              *apiextensionsv1.CustomResourceDefinition
	version          string
	write            sourceWrite
}

func readSources() (groups []suite.Group, inputs []*suiteInput, err error) {
	files, err := filepath.Glob(filepath.Join(suiteSources, "*.yaml"))
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		s, err := readSource(file)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		groups = append(groups, suite.Group{Name: s.Group, Description: s.Description})
		more, err := s.inputs()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		inputs = append(inputs, more...)
	}
	groups = append(groups, suite.Group{Name: generatedGroup, Description: "Generated CRDs and writes, with random schemas and rules."})
	generated, err := generatedInputs()
	return groups, append(inputs, generated...), err
}

func readSource(file string) (*suiteSource, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if data, err = yaml.YAMLToJSONStrict(data); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	dec.UseNumber() // int64 does not fit into float64
	s := &suiteSource{}
	return s, dec.Decode(s)
}

func (s *suiteSource) inputs() (all []*suiteInput, err error) {
	for i := range s.CRDs {
		all = append(all, s.CRDs[i].inputs(s.Group)...)
	}
	for _, pattern := range s.Cases {
		more, err := ownInputs(s.Group, pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	for i := range s.Examples {
		more, err := s.Examples[i].inputs(s.Group)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

func (e *sourceExample) inputs(group string) (all []*suiteInput, err error) {
	crd, err := ReadCRD(filepath.Join(examplesFolder, e.CRD))
	if err != nil {
		return nil, err
	}
	objects, err := e.read(crd.Definition)
	if err != nil {
		return nil, err
	}
	id := group + "/" + e.Name
	add := func(name string, w sourceWrite) {
		version := crd.Definition.Spec.Versions[0].Name
		all = append(all, &suiteInput{id: id + "/" + name, group: group, crdID: id, crd: crd.Definition, version: version, write: w})
	}
	for i, object := range objects {
		add(fmt.Sprintf("create-%d", i), sourceWrite{Object: object})
		for j, old := range objects {
			if i != j && nameOf(object) == nameOf(old) && namespaceOf(object) == namespaceOf(old) {
				add(fmt.Sprintf("update-%d-%d", j, i), sourceWrite{Object: object, Old: old})
			}
		}
	}
	return all, nil
}

func (e *sourceExample) read(crd *apiextensionsv1.CustomResourceDefinition) (all []map[string]any, err error) {
	for _, file := range e.Objects {
		data, err := os.ReadFile(filepath.Join(examplesFolder, file))
		if err != nil {
			return nil, err
		}
		for document := range strings.SplitSeq(string(data), "\n---\n") {
			object, err := decodeYAML([]byte(document))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, typedFor(crd, object))
		}
	}
	return all, nil
}

func namespaceOf(object map[string]any) string {
	namespace, _ := metadataOf(object)["namespace"].(string)
	return namespace
}

func (c *sourceCRD) inputs(group string) (all []*suiteInput) {
	crd := c.definition(group)
	add := func(name string, w sourceWrite) {
		w.Object, w.Old = typedFor(crd, w.Object), typedFor(crd, w.Old)
		crdID := group + "/" + c.Name
		all = append(all, &suiteInput{id: crdID + "/" + name, group: group, crdID: crdID, crd: crd, version: "v1", write: w})
	}
	object := func(field string, value any) map[string]any {
		return map[string]any{"spec": map[string]any{field: value}}
	}
	for _, f := range c.Fields {
		for i, v := range f.Values {
			add(fmt.Sprintf("%s-%d", f.Name, i), sourceWrite{Object: object(f.Name, v)})
		}
		for i, u := range f.Updates {
			add(fmt.Sprintf("%s-update-%d", f.Name, i), sourceWrite{Old: object(f.Name, u[0]), Object: object(f.Name, u[1])})
		}
	}
	for _, w := range c.Writes {
		add(w.Name, w)
	}
	return all
}

func (c *sourceCRD) definition(group string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.APIVersion, crd.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	crd.Spec.Group = c.Name + "." + group + ".example.com"
	crd.Name = "things." + crd.Spec.Group
	crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"}
	root := c.Schema
	if root == nil {
		root = &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	}
	if len(c.Fields) > 0 {
		spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		for _, f := range c.Fields {
			spec.Properties[f.Name] = f.Schema
		}
		root.Properties["spec"] = spec
	}
	v := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Served: true, Storage: true}
	if c.Status != nil {
		root.Properties["status"] = *c.Status
		v.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	}
	v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{v}
	return crd
}

func typedFor(crd *apiextensionsv1.CustomResourceDefinition, object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	out := map[string]any{"apiVersion": crd.Spec.Group + "/" + crd.Spec.Versions[0].Name, "kind": crd.Spec.Names.Kind}
	metadata := map[string]any{"name": "a"}
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		metadata["namespace"] = "default"
	}
	for key, value := range metadataOf(object) {
		metadata[key] = value
	}
	for key, value := range object {
		out[key] = value
	}
	out["metadata"] = metadata
	return decoded(out)
}

func ownInputs(group, pattern string) (all []*suiteInput, err error) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern+".txtar"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s matches no case: %v", pattern, err)
	}
	for _, file := range files {
		o, err := readOwn(file)
		if err != nil {
			return nil, err
		}
		crd := o.CRD.Definition
		if o.Object == nil || o.Case.Namespace != "" || len(crd.Spec.Versions) > 1 || strings.Contains(string(o.section("crd.yaml")), "v1beta1") {
			return nil, fmt.Errorf("%s: want one version, an object, and no namespace", file)
		}
		w := sourceWrite{Subresource: o.Subresource, FieldValidation: o.FieldValidation, Object: typedFor(crd, o.Object), Old: typedFor(crd, o.OldObject)}
		id := group + "/case-" + o.ID
		all = append(all, &suiteInput{id: id, group: group, crdID: id, crd: crd, version: o.Version, write: w})
	}
	return all, nil
}

func generatedInputs() (all []*suiteInput, err error) {
	g := libraries.NewGenerator(types.Newest)
	g.Rules = generatedRules
	for seed, n := uint64(1), 0; n < generatedCRDs; seed++ {
		c, err := g.Case(seed, generatedWrites)
		if err != nil {
			return nil, err
		}
		if c == nil || len(c.CRD) > generatedSize {
			continue
		}
		if ok, err := isValidCRD(c.Writes[0].CRD, c.Writes[0].Version); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		n++
		for i, w := range c.Writes {
			if w.Version != c.Writes[0].Version {
				continue
			}
			in, err := generatedInput(fmt.Sprintf("generated/%d", seed), i, w)
			if err != nil {
				return nil, err
			}
			all = append(all, in)
		}
	}
	return all, nil
}

func isValidCRD(data []byte, version string) (bool, error) {
	crd, internal := &apiextensionsv1.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	if err := json.Unmarshal(data, crd); err != nil {
		return false, err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		return false, err
	}
	internal.Status.StoredVersions = []string{version}
	return len(validation.ValidateCustomResourceDefinition(context.Background(), internal)) == 0, nil
}

func generatedInput(crdID string, i int, w *libraries.Write) (*suiteInput, error) {
	in := &suiteInput{id: fmt.Sprintf("%s/%d", crdID, i), group: generatedGroup, crdID: crdID, version: w.Version, crd: &apiextensionsv1.CustomResourceDefinition{}}
	in.write.Subresource = w.Subresource
	if err := json.Unmarshal(w.CRD, in.crd); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		data json.RawMessage
		to   *map[string]any
	}{{w.Object, &in.write.Object}, {w.Old, &in.write.Old}} {
		if part.data == nil {
			continue
		}
		var err error
		if *part.to, err = engine.Decode(part.data); err != nil {
			return nil, err
		}
		if metadata := metadataOf(*part.to); metadata != nil {
			for _, name := range chosenByServer {
				delete(metadata, name)
			}
		}
		*part.to = typedFor(in.crd, *part.to)
	}
	return in, nil
}

// chosenByServer lists the metadata that the suite leaves out.
var chosenByServer = slices.DeleteFunc(slices.Clone(chosenByRun), func(name string) bool {
	return name == "name" || name == "generateName" || name == "namespace"
})
