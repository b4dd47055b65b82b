package catalog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const (
	crdKind    = "CustomResourceDefinition"
	apiVersion = "apiextensions.k8s.io/v1"
	// maxFile limits the size of a file. It is more than any file of CRDs needs.
	maxFile = 32 << 20
)

// Read returns the CRDs in YAML or JSON data, which may have several documents or Lists. Decode
// describes the supported forms of a CRD. Documents of other kinds are skipped. Errors contain the
// number of the document, counted from 1.
func Read(data []byte) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return readCRDs(data, false)
}

// ReadWhole is like Read, but skips patches of CRDs as well: see IsPatchObject. Use it for files
// that were found in a folder instead of being named by the user.
func ReadWhole(data []byte) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return readCRDs(data, true)
}

func readCRDs(data []byte, whole bool) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for n := 1; ; n++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return crds, nil
		}
		if err == nil {
			text, err = yaml.YAMLToJSON(text)
		}
		if err == nil {
			crds, err = appendCRDs(crds, text, whole, 0)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
	}
}

// deepest limits the depth of nested Lists, because each level is decoded again.
const deepest = 4

func appendCRDs(crds []*apiextensionsv1.CustomResourceDefinition, text []byte, whole bool, depth int) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var head struct {
		Kind, APIVersion string
		Items            []json.RawMessage
	}
	if json.Unmarshal(text, &head) != nil {
		return crds, nil // not an object
	}
	switch {
	case depth > deepest:
		return nil, fmt.Errorf("a List is nested more than %d deep: do not nest Lists", deepest)
	case head.Kind == "List" || head.Kind == crdKind+"List":
		for i, item := range head.Items {
			var err error
			if crds, err = appendCRDs(crds, item, whole, depth+1); err != nil {
				return nil, fmt.Errorf("item %d: %w", i, err)
			}
		}
	case head.Kind == crdKind && whole && isPatchText(text):
	case head.Kind == crdKind:
		crd, err := Decode(text)
		if err != nil {
			return nil, err
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

// ReadFS reads the CRDs of the regular files with the extension .yaml, .yml, or .json in a folder and the folders
// below it, in the order of fs.WalkDir. It skips hidden folders and, like ReadWhole, patches of CRDs.
func ReadFS(fsys fs.FS) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	err := WalkFS(fsys, func(name string, data []byte) error {
		more, err := ReadWhole(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		crds = append(crds, more...)
		return nil
	})
	return crds, err
}

// WalkFS calls visit for the files that ReadFS reads, in the same order. It stops at the first error.
func WalkFS(fsys fs.FS, visit func(name string, data []byte) error) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || !strings.Contains(" .yaml .yml .json ", " "+path.Ext(name)+" "):
			return nil
		}
		data, err := readFile(fsys, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return visit(name, data)
	})
}

func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("more than %d MiB", maxFile>>20)
	}
	return data, nil
}
