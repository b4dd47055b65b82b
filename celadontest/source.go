package celadontest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/catalog"
)

// A source holds the content of an argument of New. Its JSON is part of the key in catalogs.
type source struct {
	Name  string
	Files []file
	CRD   *apiextensionsv1.CustomResourceDefinition // instead of Files
}

type file struct {
	Name string
	Data []byte
}

func read(args []any) ([]source, error) {
	if len(args) == 0 {
		return nil, errors.New("no CRDs given: want a folder, a file, an fs.FS, or a CustomResourceDefinition")
	}
	sources := make([]source, len(args))
	for i, arg := range args {
		s := &sources[i]
		s.Name = fmt.Sprintf("source %d", i+1)
		var err error
		switch arg := arg.(type) {
		case string:
			s.Name = arg
			err = s.open(arg)
		case fs.FS:
			err = s.walk(arg)
		case *apiextensionsv1.CustomResourceDefinition:
			if s.CRD = arg; arg == nil {
				err = errors.New("a nil CustomResourceDefinition")
			}
		default:
			err = fmt.Errorf("a %T: want the name of a file or folder, an fs.FS, or a *CustomResourceDefinition", arg)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return sources, nil
}

func (s *source) open(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return s.walk(os.DirFS(name))
	}
	data, err := os.ReadFile(name)
	s.Files = []file{{Data: data}}
	return err
}

func (s *source) walk(fsys fs.FS) error {
	return catalog.WalkFS(fsys, func(name string, data []byte) error {
		s.Files = append(s.Files, file{name, data})
		return nil
	})
}

func (s *source) crds() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	if s.CRD != nil {
		return []*apiextensionsv1.CustomResourceDefinition{s.CRD.DeepCopy()}, nil
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for i := range s.Files {
		readFile := catalog.Read
		if s.Files[i].Name != "" { // found in a folder
			readFile = catalog.ReadWhole
		}
		crds, err := readFile(s.Files[i].Data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(s.Name, s.Files[i].Name), err)
		}
		all = append(all, crds...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no CustomResourceDefinition in it (looked in .yaml, .yml, and .json)", s.Name)
	}
	return all, nil
}
