// Command fields writes the fields of built-in kinds that newer minors of Kubernetes added to builtin/fields.txt, with the
// first minor that has them:
//
//	cd conformance/kube && GOWORK=off go generate ./fields
//
// It compares the Go types in the releases of k8s.io/api, from which the OpenAPI documents of servers are generated.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/types"
)

//go:generate go run .

// output is relative to this package.
const output = "../../../builtin/fields.txt"

func main() {
	text, err := generate()
	if err == nil {
		err = os.WriteFile(filepath.FromSlash(output), []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fields holds the JSON names of the fields of structs, by "group/version.Type".
type fields map[string][]string

// generate returns the lines "group/version.Type field minor". A type that an older minor does not have is left out: only
// newer fields or kinds lead to it.
func generate() (string, error) {
	var lines []string
	before := fields{}
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		now, err := read(minor)
		if err != nil {
			return "", err
		}
		for name, list := range now {
			known, ok := before[name]
			for _, field := range list {
				if ok && !slices.Contains(known, field) {
					lines = append(lines, fmt.Sprintf("%s %s %d", name, field, minor))
				}
			}
			before[name] = append(slices.Clone(known), list...)
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n", nil
}

func read(minor int) (fields, error) {
	out, err := exec.Command("go", "mod", "download", "-json", fmt.Sprintf("k8s.io/api@v0.%d.0", minor)).Output()
	if err != nil {
		return nil, fmt.Errorf("k8s.io/api of 1.%d: %w", minor, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(module.Dir, "*", "*", "*types*.go"))
	if err != nil {
		return nil, err
	}
	all := fields{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(file, module.Dir+string(filepath.Separator))))
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if of, ok := spec.Type.(*ast.StructType); ok {
					name := dir + "." + spec.Name.Name
					all[name] = append(all[name], names(of)...)
				}
			}
			return true
		})
	}
	return all, nil
}

func names(of *ast.StructType) (list []string) {
	for _, field := range of.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			continue
		}
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if name != "" && name != "-" {
			list = append(list, name)
		}
	}
	return list
}
