package main

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed testdata
var made embed.FS

// A Kind is a kind of made-up objects.
type Kind struct {
	// Name names the objects in rows.
	Name string
	// CRD is the path of its CRD.
	CRD string
	// json and yaml are an object in which # is replaced by its number, and ~ by one of 50 numbers.
	json, yaml string
	dir        string
}

// Without a corpus, the CRD of a source is a smaller one.
type source struct {
	corpusName, madeName, file string // objects' names in rows; file in testdata
	crd                        string // pattern in a corpus
	apiVersion, kind           string // in the corpus
}

var (
	routes = source{"HTTPRoutes", "Routes", "route", "crds/gateway-api/httproutes.gateway.networking.k8s.io--standard.yaml", "gateway.networking.k8s.io/v1", "HTTPRoute"}
	pools  = source{"NodePools", "Pools", "pool", "crds/karpenter/nodepools.karpenter.sh.yaml", "karpenter.sh/v1", "NodePool"}
)

// An Input holds the files that the measured programs read.
type Input struct {
	Routes, Pools *Kind
	// CRDs holds the paths of the corpus's CRDs, or without a corpus those of Routes and Pools.
	// MostRules is the path of the CRD with the most rules.
	CRDs      []string
	MostRules string
}

// NewInput prepares input in the folder dir with the CRDs of the corpus folders.
func NewInput(dir string, corpora []string) (*Input, error) {
	in := &Input{}
	for _, corpus := range corpora {
		paths, err := filepath.Glob(filepath.Join(corpus, "crds", "*", "*.yaml"))
		if err != nil {
			return nil, err
		}
		in.CRDs = append(in.CRDs, paths...)
	}
	var err error
	if in.Routes, err = routes.newKind(dir, corpora); err != nil {
		return nil, err
	}
	if in.Pools, err = pools.newKind(dir, corpora); err != nil {
		return nil, err
	}
	if len(in.CRDs) == 0 {
		in.CRDs = []string{in.Routes.CRD, in.Pools.CRD}
	}
	most := -1
	for _, path := range in.CRDs {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if n := bytes.Count(data, []byte(" rule: ")); n > most {
			most, in.MostRules = n, path
		}
	}
	return in, nil
}

func (s source) newKind(dir string, corpora []string) (*Kind, error) {
	k := &Kind{Name: s.madeName, dir: filepath.Join(dir, s.file)}
	if err := os.MkdirAll(filepath.Join(k.dir, "crds"), 0o755); err != nil {
		return nil, err
	}
	crd, err := made.ReadFile("testdata/" + s.file + ".yaml")
	if err != nil {
		return nil, err
	}
	text, err := made.ReadFile("testdata/" + s.file + ".json")
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	for _, corpus := range corpora {
		data, err := os.ReadFile(filepath.Join(corpus, filepath.FromSlash(s.crd)))
		if err != nil {
			continue // another corpus may have it
		}
		crd, k.Name = data, s.corpusName
		object["apiVersion"], object["kind"] = s.apiVersion, s.kind
		break
	}
	one, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	document, err := yaml.Marshal(object)
	if err != nil {
		return nil, err
	}
	k.json, k.yaml = string(one)+"\n", "---\n"+string(document)
	k.CRD = filepath.Join(k.dir, "crds", "crd.yaml")
	return k, os.WriteFile(k.CRD, crd, 0o644)
}

func (k *Kind) folder() string { return filepath.Dir(k.CRD) }

// Lines writes a file with n objects as JSON lines, unless it exists, and returns its path.
func (k *Kind) Lines(n int) (string, error) { return k.write(fmt.Sprintf("%d.jsonl", n), k.json, n) }

// Stream writes a file with n objects as YAML documents, unless it exists, and returns its path.
func (k *Kind) Stream(n int) (string, error) { return k.write(fmt.Sprintf("%d.yaml", n), k.yaml, n) }

func (k *Kind) write(name, text string, n int) (string, error) {
	path := filepath.Join(k.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	for i := range n {
		if _, err := io.WriteString(out, numbered(text, i)); err != nil {
			return "", err
		}
	}
	if err := out.Flush(); err != nil {
		return "", err
	}
	return path, f.Close()
}

// Files makes one of rejectedIn objects invalid.
const rejectedIn = 10

// Files writes a folder with n objects, one per YAML file, and returns its path. A rule rejects some of
// them.
func (k *Kind) Files(n int) (string, error) {
	dir := filepath.Join(k.dir, fmt.Sprintf("files-%d", n))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for i := range n {
		text := numbered(k.yaml, i)
		if i%rejectedIn == 0 {
			text = strings.ReplaceAll(text, "value: /cart", "value: cart")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("object-%05d.yaml", i)), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func numbered(text string, i int) string {
	return strings.NewReplacer("#", strconv.Itoa(i), "~", strconv.Itoa(i%50)).Replace(text)
}
