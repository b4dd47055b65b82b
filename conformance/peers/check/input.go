package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/conformance"
)

// input holds the files that all programs read.
type input struct {
	crdDir, crd, crdName string
	objects              string
	refused              int
}

// makeInput writes a CRD and objects from the corpus. It repeats cases with different names until
// there are enough files.
func makeInput(dir string, files int) (*input, error) {
	accepted, refused, err := readCases()
	if err != nil {
		return nil, err
	}
	crd := accepted[0].CRD
	in := &input{
		crdDir: filepath.Join(dir, "crds"), crdName: crd.Definition.Name,
		crd: filepath.Join(dir, "crds", "crd.yaml"), objects: filepath.Join(dir, "objects"),
	}
	for _, folder := range []string{in.crdDir, in.objects} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return nil, err
		}
	}
	data, err := os.ReadFile(crd.Path)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(in.crd, data, 0o644); err != nil {
		return nil, err
	}
	for i := range files {
		c := accepted[(i-in.refused)%len(accepted)]
		if i%refusedIn == 0 {
			c = refused[in.refused%len(refused)]
			in.refused++
		}
		if err := in.write(i, c.Object); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// write writes an object with a unique name.
func (in *input) write(i int, object map[string]any) error {
	name := fmt.Sprintf("route-%04d", i)
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	delete(metadata, "generateName")
	metadata["name"] = name
	object = maps.Clone(object)
	object["metadata"] = metadata
	delete(object, "status") // a server drops the status on create, whereas kubectl-validate validates it
	data, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(in.objects, name+".yaml"), data, 0o644)
}

// readCases returns the creates of a CRD: those that the API server accepts, and those that a
// rule or the schema rejects.
func readCases() (accepted, refused []*conformance.Case, err error) {
	var crd *conformance.CRD
	for _, dir := range filepath.SplitList(os.Getenv("CELADON_CORPUS")) {
		corpus, err := conformance.ReadCorpus(dir)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range corpus.Cases {
			if !strings.HasPrefix(filepath.Base(c.CRD.Path), crdPrefix) || c.Variant || c.Update() || c.Subresource != "" || c.Raw != nil {
				continue
			}
			if crd == nil {
				crd = c.CRD
			}
			switch {
			case c.CRD != crd:
			case c.Expect == "valid":
				accepted = append(accepted, c)
			case c.Expect == "invalid":
				refused = append(refused, c)
			}
		}
	}
	if len(accepted) == 0 || len(refused) == 0 {
		return nil, nil, fmt.Errorf("CELADON_CORPUS names no corpus with accepted and refused cases of %s", crdPrefix)
	}
	return accepted, refused, nil
}
