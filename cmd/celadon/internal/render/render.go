// Package render runs kustomize and helm, and reads the objects that they print as documents of the source files.
package render

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
)

const maxOutput = 256 << 20

// A Program is how a command is run: its working directory, additional environment, and the limit of its output in bytes.
type Program struct {
	Dir   string
	Env   []string
	Limit int
}

// Run returns the standard output of cmd, which has a context. The error has its standard error.
func Run(ctx context.Context, p Program, cmd *exec.Cmd) ([]byte, error) {
	if cmd.Err != nil {
		return nil, fmt.Errorf("%s: not installed: %w", filepath.Base(cmd.Path), cmd.Err)
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.Dir, append(os.Environ(), p.Env...), 5*time.Second
	out, stderr := &input.Head{Limit: p.Limit, OnExceeded: func() { _ = cmd.Cancel() }}, &input.Head{Limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, stderr
	err := cmd.Run()
	switch name := filepath.Base(cmd.Args[0]); {
	case ctx.Err() != nil:
		return out.Bytes(), ctx.Err()
	case out.Exceeded:
		return nil, fmt.Errorf("%s: more than %d MiB", name, p.Limit>>20)
	case err != nil:
		return out.Bytes(), fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out.Bytes(), nil
}

// offline keeps kustomize and helm from reading remote bases and repositories: a checked tree must not open
// connections to other machines.
var offline = []string{
	"GIT_ALLOW_PROTOCOL=", "GIT_TERMINAL_PROMPT=0",
	"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=", "no_proxy=",
}

// An Output is the output of a renderer. The paths of origins start at root.
type Output struct {
	Name string // the folder or chart, as the user named it
	Data []byte
	root string
}

// Kustomize returns the output of kustomize build, or of kubectl kustomize if only that is installed. Objects have
// annotations with their origin. Plugins and functions do not run, and remote bases are not read.
func Kustomize(ctx context.Context, name string) (out Output, err error) {
	dir, err := realPath(name)
	if err != nil {
		return out, input.WithoutPath(err)
	}
	program := []string{"kustomize", "build"}
	if !installed("kustomize") {
		if program = []string{"kubectl", "kustomize"}; !installed("kubectl") {
			return out, errors.New("neither kustomize nor kubectl is installed: check the output of kustomize build from elsewhere instead")
		}
	}
	overlay, err := os.MkdirTemp("", "celadon-overlay-")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(overlay)
	if overlay, err = realPath(overlay); err != nil {
		return out, err
	}
	rel, err := filepath.Rel(overlay, dir)
	if err != nil {
		return out, err
	}
	text := fmt.Sprintf("buildMetadata: [originAnnotations]\nresources: [%q]\n", filepath.ToSlash(rel))
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		return out, err
	}
	cmd := exec.CommandContext(ctx, program[0], append(program[1:], overlay)...)
	data, err := Run(ctx, Program{Env: offline, Limit: maxOutput}, cmd)
	return Output{name, data, overlay}, err
}

func realPath(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func installed(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// Helm returns the output of helm template.
func Helm(ctx context.Context, chart string, values []string) (out Output, err error) {
	if !installed("helm") {
		return out, errors.New("helm is not installed: check the output of helm template from elsewhere instead")
	}
	args := []string{"template", "release-name", chart, "--include-crds"}
	for _, path := range values {
		args = append(args, "--values", path)
	}
	if strings.HasPrefix(chart, "-") || strings.Contains(chart, "://") {
		return out, errors.New("want the folder or the archive of a chart")
	}
	data, err := Run(ctx, Program{Env: offline, Limit: maxOutput}, exec.CommandContext(ctx, "helm", args...))
	return Output{chart, data, chart}, err
}

// maxSource limits the size of the files that are read to find the source of an object.
const maxSource = 8 << 20

const (
	originKey = "config.kubernetes.io/origin"
	helmMark  = "# Source: "
)

// Chunks returns the objects in the output. Each has the file and position of its source, if they are known.
func (o Output) Chunks() (chunks []input.Chunk) {
	sources := sources{root: o.root, files: map[string][]*input.Document{}}
	sources.here, _ = realPath(".")
	tree, _ := worktree.Top(o.Name)
	sources.tree = cmp.Or(tree, sources.here)
	for _, part := range bytes.Split(append([]byte("\n"), o.Data...), []byte("\n---")) {
		file := o.Name
		if i := bytes.Index(part, []byte("\n"+helmMark)); i >= 0 {
			line, _, _ := bytes.Cut(part[i+1+len(helmMark):], []byte("\n"))
			_, name, _ := strings.Cut(string(bytes.TrimSpace(line)), "/") // without the name of the chart
			file = filepath.Join(o.Name, filepath.FromSlash(name))
		}
		input.SplitText(file, part, func(c input.Chunk) bool {
			c.Expand = func(doc *input.Document) []*input.Document { return []*input.Document{sources.original(doc)} }
			chunks = append(chunks, c)
			return true
		})
	}
	return chunks
}

type sources struct {
	root, here, tree string
	mutex            sync.Mutex
	files            map[string][]*input.Document
}

// file returns the path of an origin, relative to the working directory if it is below that. It returns "" if the path is not
// in the work tree of the rendered folder, because the author of an object can forge its origin.
func (s *sources) file(origin string) string {
	file := filepath.Join(s.root, filepath.FromSlash(origin))
	if s.tree == "" || !worktree.Inside(s.tree, file) {
		return ""
	}
	if rel, err := filepath.Rel(s.here, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}

// original returns doc with the position of its source, if that is found.
func (s *sources) original(doc *input.Document) *input.Document {
	if doc.Err != nil {
		return doc
	}
	meta := input.Metadata(doc.Object)
	annotations, _ := meta["annotations"].(map[string]any)
	origin, _ := annotations[originKey].(string)
	delete(annotations, originKey)
	if len(annotations) == 0 {
		delete(meta, "annotations")
	}
	file := doc.File
	for line := range strings.Lines(origin) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "path: "); ok {
			file = cmp.Or(s.file(path), file)
		}
	}
	rendered := input.Edited(file, nil, 0, 0, false, doc.Object)
	if source := s.find(file, doc); source != nil {
		text, line, inList := source.Source()
		rendered = input.Edited(file, text, line, source.Item, inList, doc.Object)
	}
	rendered.Rendered = true
	return rendered
}

// find returns the document in file that was rendered as doc, or nil: the document of the same kind and name, or
// else, because renderers change names, the only document of the kind or the first whose name is part of doc's.
func (s *sources) find(file string, doc *input.Document) *input.Document {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	docs, known := s.files[file]
	if !known && worktree.Inside(s.tree, file) { // and not a link out of it
		if data, err := input.ReadFile(file, maxSource); err == nil {
			for d := range (input.Text{File: file, Data: data}).Documents {
				if d.Err == nil {
					docs = append(docs, d)
				}
			}
		}
	}
	s.files[file] = docs
	var same []*input.Document
	for _, d := range docs {
		if d.Object["kind"] != doc.Object["kind"] {
			continue
		}
		if d.Identity().Name == doc.Identity().Name {
			return d
		}
		same = append(same, d)
	}
	if len(same) == 1 {
		return same[0]
	}
	if i := slices.IndexFunc(same, func(d *input.Document) bool {
		return strings.Contains(doc.Identity().Name, d.Identity().Name)
	}); i >= 0 {
		return same[i]
	}
	return nil
}
