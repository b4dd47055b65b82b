package celadontest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/catalog"
)

// A source holds the content of an argument of New.
type source struct {
	name  string
	files []file
	crd   *apiextensionsv1.CustomResourceDefinition // instead of files
}

type file struct {
	name string
	data []byte
}

func read(args []any) ([]source, error) {
	if len(args) == 0 {
		return nil, errors.New("no CRDs given: want a folder, a file, an fs.FS, or a CustomResourceDefinition")
	}
	sources := make([]source, len(args))
	for i, arg := range args {
		s := &sources[i]
		s.name = fmt.Sprintf("source %d", i+1)
		var err error
		switch arg := arg.(type) {
		case string:
			s.name = arg
			err = s.open(arg)
		case fs.FS:
			err = s.walk(arg)
		case *apiextensionsv1.CustomResourceDefinition:
			if s.crd = arg; arg == nil {
				err = errors.New("a nil CustomResourceDefinition")
			}
		default:
			err = fmt.Errorf("a %T: want the name of a file or folder, an fs.FS, or a *CustomResourceDefinition", arg)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return sources, nil
}

// open reads a file with any extension, or a folder.
func (s *source) open(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return s.walk(os.DirFS(name))
	}
	data, err := os.ReadFile(name)
	s.files = []file{{data: data}}
	return err
}

func (s *source) walk(fsys fs.FS) error {
	return catalog.WalkFS(fsys, func(name string, data []byte) error {
		s.files = append(s.files, file{name, data})
		return nil
	})
}

// contents returns the data that determines the source's CRDs.
func (s *source) contents() ([][]byte, error) {
	if s.crd != nil {
		data, err := json.Marshal(s.crd)
		return [][]byte{data}, err
	}
	var all [][]byte
	for _, f := range s.files {
		all = append(all, []byte(f.name), f.data)
	}
	return all, nil
}

func (s *source) crds() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if s.crd != nil {
		return []*apiextensionsv1.CustomResourceDefinition{s.crd.DeepCopy()}, nil
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for i := range s.files {
		readFile := catalog.Read
		if s.files[i].name != "" { // found in a folder
			readFile = catalog.ReadWhole
		}
		crds, err := readFile(s.files[i].data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(s.name, s.files[i].name), err)
		}
		all = append(all, crds...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no CustomResourceDefinition in it (looked in .yaml, .yml, and .json)", s.name)
	}
	return all, nil
}
