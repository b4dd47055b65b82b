package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// A Case is a write from the tests of a corpus's maintainers.
type Case struct {
	Name        string
	CRD         string   // a file in the folder
	Variants    []string // other CRD files for which the tests run the same write
	Version     string
	Subresource string
	Object      map[string]any
	OldObject   map[string]any // nil on create
}

// Cases returns the cases with an object in all files of the subfolder cases of folder, in order. A
// folder without cases is not an error.
func Cases(t testing.TB, folder string) iter.Seq[Case] {
	t.Helper()
	return func(yield func(Case) bool) {
		err := filepath.WalkDir(filepath.Join(folder, "cases"), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".yaml" {
				return err
			}
			return readCases(path, yield)
		})
		if err != nil && !errors.Is(err, errDone) && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

var errDone = errors.New("no more cases are wanted")

func readCases(path string, yield func(Case) bool) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		c, err := readCase(doc)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if c.Object != nil && !yield(c) {
			return errDone
		}
	}
}

func readCase(doc []byte) (c Case, err error) {
	text, err := yaml.YAMLToJSON(doc)
	if err != nil {
		return c, err
	}
	var all map[string]any // decoded like in the API server: whole numbers are int64
	if err := json.Unmarshal(text, &all); err != nil {
		return c, err
	}
	c.Name, _ = all["name"].(string)
	c.CRD, _ = all["crd"].(string)
	variants, _ := all["alsoCrds"].([]any)
	for _, v := range variants {
		file, _ := v.(string)
		c.Variants = append(c.Variants, file)
	}
	c.Version, _ = all["version"].(string)
	c.Subresource, _ = all["subresource"].(string)
	c.Object, _ = all["object"].(map[string]any)
	c.OldObject, _ = all["oldObject"].(map[string]any)
	return c, nil
}
