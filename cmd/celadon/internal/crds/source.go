package crds

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/render"
)

// How it works. A source is a string:
//
//	a file, or an archive such as a packaged chart    https://host/crds.yaml
//	an artifact or a chart of a registry              oci://host/repository:tag
//	the YAML files of a git revision, below a folder  git+https://host/repository?ref=v1//config
//	the YAML files of a Go module, below a folder     go:example.com/module@v1//config
//	the output of kustomize build                     kustomize:PATH
//	the CRDs of a cluster                             cluster:CONTEXT
//	a file, a folder, or an archive                   PATH
//
// Programs (git, go, and kustomize) run only for sources that need them. Nothing that they or a server send is
// written to the folder of the CRDs before it was decoded as a CRD.

// isPath reports whether a source is a path, possibly of a kustomization.
func isPath(source string) bool {
	kind, _, _ := strings.Cut(source, ":")
	return !slices.Contains([]string{"http", "https", "oci", "git+https", "git+http", "git+ssh", "ssh", "go", "cluster"}, kind)
}

// Join returns a source that a file in folder names, relative to the working directory.
func Join(folder, source string) string {
	path, kustomize := strings.CutPrefix(source, "kustomize:")
	if !isPath(source) || filepath.IsAbs(path) {
		return source
	}
	if path = filepath.Join(folder, path); kustomize {
		return "kustomize:" + path
	}
	return path
}

// selectable returns an error if only the command line may name a source. The author of a tree may be hostile, so a
// file in the tree names no path out of the tree, and no cluster unless the user names its kubeconfig.
func (o *Options) selectable(source string) error {
	if strings.HasPrefix(source, "cluster:") && o.Kubeconfig == "" {
		return errors.New("only the command line names a cluster: pass --kubeconfig, or use celadon crds add")
	}
	if !isPath(source) {
		return nil
	}
	tree, err := worktree.Top(".")
	if err == nil && !worktree.Inside(cmp.Or(tree, "."), strings.TrimPrefix(source, "kustomize:")) {
		err = errors.New("not in the tree: use celadon crds add")
	}
	return err
}

type opened struct {
	documents batch.Source
	version   string       // of the content, or ""
	failed    func() error // returns the error that ended reading the documents; may be nil
}

func (o *Options) open(ctx context.Context, source string) (*opened, error) {
	kind, rest, _ := strings.Cut(source, ":")
	switch kind {
	case "http", "https":
		data, err := o.download(ctx, source)
		if err != nil {
			return nil, err
		}
		return fromTexts(textsOf(source, data))
	case "oci":
		return o.artifact(ctx, strings.TrimPrefix(rest, "//"))
	case "git+https", "git+http":
		return o.git(ctx, source)
	case "go":
		return goModule(ctx, rest)
	case "kustomize":
		out, err := render.Kustomize(ctx, rest)
		return fromTexts([]input.Text{{File: source, Data: out.Data}}, err)
	case "cluster":
		c, err := (&cluster.Flags{On: true, All: true, Context: rest, Kubeconfig: o.Kubeconfig}).Open()
		if err != nil {
			return nil, err
		}
		all, failed := c.CRDs(ctx, nil)
		return &opened{documents: all, failed: failed}, nil
	case "git+ssh", "ssh":
		return nil, fmt.Errorf("%s: want an https URL, oci, git+https, go, kustomize, cluster, or a path", kind)
	}
	return fromPath(source, ""), nil
}

func fromPath(path, version string) *opened {
	return &opened{version: version, documents: batch.Selected(input.Selection{Regular: true}, nil, []string{path})}
}

func fromTexts(texts []input.Text, err error) (*opened, error) {
	return &opened{documents: func(_ func(), yield func(input.Chunk) bool) {
		for _, text := range texts {
			if !input.SplitText(text.File, text.Data, yield) {
				return
			}
		}
	}}, err
}

func textsOf(name string, data []byte) ([]input.Text, error) {
	isTar := len(data) > 512 && bytes.HasPrefix(data[257:], []byte("ustar"))
	if !isTar && !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return []input.Text{{File: name, Data: data}}, nil
	}
	return input.Archive(name, bytes.NewReader(data))
}

// subfolder splits NAME//FOLDER. It returns an error if FOLDER leads out of the source.
func subfolder(text string) (name, folder string, err error) {
	name, folder, _ = strings.Cut(text, "//")
	if folder == "" {
		folder = "."
	}
	if !filepath.IsLocal(folder) || strings.HasPrefix(folder, "-") || strings.ContainsAny(folder, ":\\") {
		return "", "", fmt.Errorf("%q: want a folder inside of the source", folder)
	}
	return name, path.Clean(folder), nil
}

var revision = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

func (o *Options) git(ctx context.Context, source string) (*opened, error) {
	address, rest, _ := strings.Cut(strings.TrimPrefix(source, "git+"), "?ref=")
	rev, folder, err := subfolder(rest)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err == nil {
		err = checkURL(u, o.Private)
	}
	if err == nil && !revision.MatchString(rev) {
		err = errors.New("want git+https://HOST/REPOSITORY?ref=REVISION, and then //FOLDER if only a part is of interest")
	}
	if err == nil && !o.Private {
		err = publicHost(ctx, u.Hostname())
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "celadon-git-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	git := func(args ...string) ([]byte, error) {
		safe := []string{"-C", dir, "-c", "http.followRedirects=false", "-c", "protocol.allow=never", "-c", "protocol." + u.Scheme + ".allow=always", "-c", "core.hooksPath=/dev/null"}
		return run(ctx, []string{"GIT_TERMINAL_PROMPT=0", "GIT_DIR=" + dir}, maxDownload, "git", append(safe, args...)...)
	}
	if _, err := git("init", "-q", "--bare", dir); err != nil {
		return nil, err
	}
	if _, err := git("fetch", "-q", "--depth", "1", "--no-tags", "--no-recurse-submodules", address, rev); err != nil {
		return nil, err
	}
	commit, err := git("rev-parse", "FETCH_HEAD^{commit}")
	if err != nil {
		return nil, err
	}
	data, err := git("archive", "--format=tar", "FETCH_HEAD", "--", folder)
	if err != nil {
		return nil, err
	}
	all, err := fromTexts(input.Archive(source, bytes.NewReader(data)))
	all.version = strings.TrimSpace(string(commit))
	return all, err
}

var moduleVersion = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~/-]*@[A-Za-z0-9][A-Za-z0-9.+_-]*$`)

func goModule(ctx context.Context, text string) (*opened, error) {
	module, folder, err := subfolder(text)
	if err == nil && !moduleVersion.MatchString(module) {
		err = errors.New("want go:MODULE@VERSION, and then //FOLDER if only a part is of interest")
	}
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, []string{"GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOWORK=off"}, 1<<20, "go", "mod", "download", "-json", module)
	var found struct{ Dir, Version, Error string }
	if bad := json.Unmarshal(out, &found); bad == nil && found.Error != "" {
		err = errors.New(found.Error)
	}
	if err == nil && found.Dir == "" {
		err = errors.New("go does not name the folder of the module")
	}
	if err != nil {
		return nil, err
	}
	return fromPath(filepath.Join(found.Dir, filepath.FromSlash(folder)), found.Version), nil
}

// run returns the output of a program, which is started outside of the working directory, so that no file there configures
// it.
func run(ctx context.Context, env []string, limit int, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return render.Run(ctx, render.Program{Dir: os.TempDir(), Env: env, Limit: limit}, exec.CommandContext(ctx, name, args...))
}
