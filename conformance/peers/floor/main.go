// Command floor decodes the input of a check and does nothing else. It measures the minimum work of
// a program that checks it. Without arguments, it exits at once.
//
//	floor DECODER PATH...
//
// With the decoder yaml, each file or file of a folder is split into YAML documents, which
// sigs.k8s.io/yaml decodes. The other decoders read JSON lines, and reject duplicate keys.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	jsonv2 "github.com/go-json-experiment/json"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/jsonvalue"
)

func main() {
	if len(os.Args) < 2 {
		return
	}
	for _, root := range os.Args[2:] {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if err := decodeFile(os.Args[1], path); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			return nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, "floor:", err)
			os.Exit(2)
		}
	}
}

// decodeFile decodes the documents of a file one after the other.
func decodeFile(decoder, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if decoder == "yaml" {
		return decodeYAML(f)
	}
	decode, err := jsonDecoder(decoder)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<16), 1<<20)
	for lines.Scan() {
		if err := decode(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

func decodeYAML(r io.Reader) error {
	documents := yamlstream.NewYAMLReader(bufio.NewReader(r))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var object map[string]any
		if err := yaml.UnmarshalStrict(bytes.TrimPrefix(text, []byte("---\n")), &object); err != nil {
			return err
		}
	}
}

func jsonDecoder(name string) (func([]byte) error, error) {
	switch name {
	case "sigs.k8s.io/json":
		return func(line []byte) error {
			var object map[string]any
			duplicates, err := kjson.UnmarshalStrict(line, &object)
			return errors.Join(append(duplicates, err)...)
		}, nil
	case "jsontext":
		return func(line []byte) error {
			var object map[string]any
			return jsonv2.Unmarshal(line, &object)
		}, nil
	case "jsonvalue":
		return func(line []byte) error {
			if _, ok := jsonvalue.Object(line); !ok {
				return errors.New("not accepted")
			}
			return nil
		}, nil
	}
	return nil, fmt.Errorf("decoder %q: want yaml, sigs.k8s.io/json, jsontext, or jsonvalue", name)
}
