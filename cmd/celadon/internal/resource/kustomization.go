package resource

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// A kustomization.yaml may be hostile, so the work that it causes is limited. Entries beyond a limit are not read: the
// files that they list are checked as objects.
const (
	maxKustomization = 1 << 20 // bytes of a file
	maxEntries       = 10_000  // entries of a file
	maxAllEntries    = 200_000 // entries of all files
	maxNamed         = 5       // paths in a note
)

// Kustomizations reads the kustomization.yaml files of folders, to distinguish patches from objects. It opens only
// regular files below the folders. It is safe for concurrent use.
type Kustomizations struct {
	roots []string

	mu      sync.Mutex
	folders map[string]*kustomization // nil for a folder without one
	entries int
	ignored map[string]bool
	outside map[string]bool // the resources that are not below the roots
	invalid map[string]bool // the folders of kustomizations with resources that are invalid
}

// NewKustomizations returns the kustomizations below roots, the paths that the user named.
func NewKustomizations(roots ...string) *Kustomizations {
	return &Kustomizations{
		roots:   input.WithoutStdin(roots),
		folders: map[string]*kustomization{}, ignored: map[string]bool{}, outside: map[string]bool{}, invalid: map[string]bool{},
	}
}

// A kustomization holds the files that a kustomization.yaml lists. completes is set if it may add fields to the
// resources.
type kustomization struct {
	patches, resources map[string]bool
	completes          bool
}

// IsPatch reports whether a file below a root is listed as a patch and not as a resource by the kustomization.yaml of
// its folder or of a folder above it. Kustomize itself reads no patches from other folders.
func (k *Kustomizations) IsPatch(file string) bool {
	root := k.rootOf(file)
	if root == "" {
		return false
	}
	file = filepath.Clean(file)
	k.mu.Lock()
	defer k.mu.Unlock()
	patch := false
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if of := k.folder(root, dir); of != nil {
			if of.resources[file] {
				return false
			}
			patch = patch || of.patches[file]
		}
		if dir == filepath.Clean(root) || dir == filepath.Dir(dir) {
			break
		}
	}
	if patch {
		k.ignored[file] = true
	}
	return patch
}

// Invalid records that a file has an invalid object, if the kustomization.yaml of its folder lists the file as a
// resource and may add the missing fields.
func (k *Kustomizations) Invalid(file string) {
	root := k.rootOf(file)
	if root == "" {
		return
	}
	file = filepath.Clean(file)
	k.mu.Lock()
	defer k.mu.Unlock()
	if dir := filepath.Dir(file); len(k.invalid) < maxEntries {
		if of := k.folder(root, dir); of != nil && of.completes && of.resources[file] {
			k.invalid[dir] = true
		}
	}
}

// k may be nil.
func (k *Kustomizations) rootOf(file string) string {
	if k == nil {
		return ""
	}
	for _, root := range k.roots {
		if below, err := filepath.Rel(root, file); err == nil && below != "." && filepath.IsLocal(below) {
			return root
		}
	}
	return ""
}

// folder returns nil for a folder without a kustomization. The caller holds k.mu.
func (k *Kustomizations) folder(root, dir string) *kustomization {
	of, known := k.folders[dir]
	if !known {
		of = k.read(root, dir)
		k.folders[dir] = of
	}
	return of
}

// read returns nil if the kustomization.yaml is missing or cannot be read: check reports its errors like those in any
// other file.
func (k *Kustomizations) read(root, dir string) *kustomization {
	below, err := filepath.Rel(root, dir)
	if err != nil {
		return nil
	}
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if data, err := input.ReadBelow(root, filepath.Join(below, name), maxKustomization); err == nil {
			return k.parse(filepath.Join(dir, name), data)
		}
	}
	return nil
}

func (k *Kustomizations) parse(file string, data []byte) *kustomization {
	var object map[string]any
	for doc := range (input.Text{File: file, Data: data}).Documents {
		object = doc.Object
		break // kustomize reads only one document
	}
	of := &kustomization{patches: map[string]bool{}, resources: map[string]bool{}}
	left := min(maxEntries, maxAllEntries-k.entries)
	dir := filepath.Dir(file)
	for _, field := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
		for _, entry := range entriesOf(object, field, &left) {
			if path := listedPath(entry); filepath.IsLocal(path) {
				of.patches[filepath.Join(dir, path)] = true
			}
		}
	}
	for _, field := range []string{"resources", "components", "bases"} {
		for _, entry := range entriesOf(object, field, &left) {
			path := listedPath(entry)
			switch {
			case path == "":
			case k.isBelow(dir, path):
				of.resources[filepath.Join(dir, path)] = true
			default:
				k.outside[file+": "+path] = true
			}
		}
	}
	adds := []string{"namespace", "labels", "commonLabels", "patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "transformers", "components"}
	of.completes = slices.ContainsFunc(adds, func(field string) bool { return object[field] != nil })
	k.entries += len(of.patches) + len(of.resources)
	return of
}

func entriesOf(object map[string]any, field string, left *int) []any {
	list, _ := object[field].([]any)
	list = list[:min(len(list), max(0, *left))]
	*left -= len(list)
	return list
}

// listedPath returns "" for an inline patch.
func listedPath(entry any) string {
	if object, ok := entry.(map[string]any); ok {
		entry = object["path"]
	}
	path, _ := entry.(string)
	if strings.ContainsAny(path, "\n\x00") {
		return ""
	}
	return path
}

func (k *Kustomizations) isBelow(dir, path string) bool {
	if filepath.IsAbs(path) || isRemote(path) {
		return false
	}
	abs, err := filepath.Abs(filepath.Join(dir, path))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(k.roots, func(root string) bool {
		root, err := filepath.Abs(root)
		if err != nil {
			return false
		}
		below, err := filepath.Rel(root, abs)
		return err == nil && filepath.IsLocal(below)
	})
}

// isRemote reports whether kustomize downloads a resource: a URL, git@host:path, github.com/path, or
// host/path?ref=revision.
func isRemote(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return strings.Contains(path, "://") || strings.Contains(host, ":") || strings.Contains(path, "?ref=") || host == "github.com"
}

// Notes returns notes about ignored patches, invalid resources, and resources that are not below the roots.
func (k *Kustomizations) Notes() (notes []error) {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, note := range []struct {
		of     map[string]bool
		noun   string
		format string
	}{
		{k.ignored, "patch file", "%s of kustomize ignored: check the output of kustomize build to check the patched objects (%s)"},
		{k.invalid, "kustomization", "invalid objects of %s may be complete after kustomize build: check its output with --kustomize FOLDER (%s)"},
		{k.outside, "resource", "%s of kustomize outside of the given folders not checked (%s)"},
	} {
		if n := len(note.of); n > 0 {
			notes = append(notes, fmt.Errorf(note.format, phrase.Count(n, note.noun), firstOf(note.of)))
		}
	}
	return notes
}

func firstOf(set map[string]bool) string {
	paths := slices.Sorted(maps.Keys(set))
	for i, path := range paths[:min(len(paths), maxNamed)] {
		if len(path) > maxPath {
			paths[i] = strings.ToValidUTF8(path[:maxPath], "") + "…"
		}
	}
	return Some(paths, maxNamed)
}

// Some joins the first names of a list, at most limit, and adds the number of the others.
func Some(names []string, limit int) string {
	if n := len(names) - limit; n > 0 {
		names = append(names[:limit:limit], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(names, ", ")
}

const maxPath = 200
