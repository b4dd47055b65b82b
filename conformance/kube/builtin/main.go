// Command builtin writes the schemas of Kubernetes' built-in kinds to engine/x/builtin, and the fields
// whose defaults they lack to conditional.txt:
//
//	cd conformance/kube && GOWORK=off go generate ./builtin
//
// The schemas come from the OpenAPI documents in module k8s.io/kubernetes, and the defaults from its
// defaulting functions.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run .

// Paths of the written files, relative to this package.
const (
	schemasFile     = "../../../engine/x/builtin/schemas.json.gz"
	conditionalFile = "conditional.txt"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	schemas, conditional, err := generate()
	if err != nil {
		return err
	}
	packed, err := pack(schemas)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.FromSlash(schemasFile), packed, 0o644); err != nil {
		return err
	}
	return os.WriteFile(conditionalFile, conditional, 0o644)
}

func generate() (schemas, conditional []byte, err error) {
	f, err := readDocuments()
	if err != nil {
		return nil, nil, err
	}
	if conditional, err = recordDefaults(f); err != nil {
		return nil, nil, err
	}
	schemas, err = json.Marshal(f)
	return schemas, conditional, err
}

// pack compresses data. The result depends on the release of Go, so tests compare uncompressed data.
func pack(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
