// Package crds implements celadon crds, which copies CRDs from archives, registries, repositories, and clusters into a
// folder for the flag --crd. A lock file in the folder lists the sources.
package crds

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/internal/text/filename"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

const (
	// LockName is the name of the lock file.
	LockName = "celadon-crds.lock"
	maxLock  = 4 << 20
	maxCRDs  = 5000
	maxBytes = 128 << 20 // of the CRDs of a source
)

// Options are the flags of celadon crds.
type Options struct {
	Dir        string
	Private    bool
	Logins     bool // of docker, for registries
	Update     bool
	Kubeconfig string

	control func(network, address string, _ syscall.RawConn) error // checks connections; if nil, Private decides
}

// Flags adds the flags to f, including network flags if fetches is set.
func (o *Options) Flags(f *pflag.FlagSet, fetches bool) {
	f.StringVar(&o.Dir, "dir", "crds", "`FOLDER` of the CRDs and of "+LockName)
	if fetches {
		f.BoolVar(&o.Logins, "logins", false, "use the logins of docker for OCI registries")
		f.BoolVar(&o.Private, "private-addresses", false, "allow http, and connections to addresses in private networks")
		f.StringVar(&o.Kubeconfig, "kubeconfig", "", "for cluster: sources: `KUBECONFIG` to read (default: as kubectl)")
	}
}

type lock struct {
	Sources []*source `json:"sources"`
}

type source struct {
	Source string `json:"source"`
	// Version is the commit, the version of a Go module, or the digest of an artifact; "" if unknown.
	Version string `json:"version,omitempty"`
	// Digest is the digest of the CRDs' files, in the order of their names.
	Digest string   `json:"digest"`
	CRDs   []string `json:"crds"`

	unread []error // documents that could not be read
}

func (l *lock) find(name string) *source {
	if i := slices.IndexFunc(l.Sources, func(s *source) bool { return s.Source == name }); i >= 0 {
		return l.Sources[i]
	}
	return nil
}

func (o *Options) read() (*lock, error) {
	data, err := input.ReadFile(filepath.Join(o.Dir, LockName), maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return &lock{Sources: []*source{}}, nil
	}
	l := &lock{}
	if err == nil {
		err = input.UnmarshalStrict(data, l)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(o.Dir, LockName), err)
	}
	for _, s := range l.Sources {
		for _, name := range s.CRDs {
			if _, err := o.path(name); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(o.Dir, LockName), err)
			}
		}
	}
	return l, nil
}

func (o *Options) path(crd string) (string, error) { return filename.Join(o.Dir, crd+".yaml") }

func (o *Options) write(before, now *lock, fetched map[string][]byte) error {
	owner := map[string]string{}
	for _, s := range now.Sources {
		for _, name := range s.CRDs {
			if other, ok := owner[name]; ok {
				return fmt.Errorf("%s: in %s and in %s: a server can have only one", name, other, s.Source)
			}
			owner[name] = s.Source
		}
	}
	if err := outfile.MkdirAll(o.Dir, 0o777); err != nil {
		return err
	}
	for name, text := range fetched {
		path, err := o.path(name)
		if err == nil {
			err = outfile.Write(path, text)
		}
		if err != nil {
			return err
		}
	}
	for _, s := range before.Sources {
		for _, name := range s.CRDs {
			path, err := o.path(name)
			if err == nil && owner[name] == "" {
				err = os.Remove(path)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	slices.SortFunc(now.Sources, func(a, b *source) int { return cmp.Compare(a.Source, b.Source) })
	text, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	return outfile.Write(filepath.Join(o.Dir, LockName), append(text, '\n'))
}

// fetch reads a source and returns its CRDs as YAML, by name.
func (o *Options) fetch(ctx context.Context, name string) (*source, map[string][]byte, error) {
	from, err := o.open(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	files, size := map[string][]byte{}, 0
	type one struct {
		name        string
		text        []byte
		err, unread error
	}
	s := &source{Source: name, Version: from.version}
	decode := func(doc *input.Document) one {
		if doc.Err != nil && !doc.Unrelated && !errors.Is(doc.Err, input.ErrNoObject) {
			return one{unread: fmt.Errorf("%s: %w", doc.Location(), doc.Err)}
		}
		if doc.Err != nil || doc.Object["kind"] != resource.Kind || resource.FoundPatch(doc, nil) {
			return one{}
		}
		text, err := plain(doc.Object)
		return one{name: doc.Identity().Name, text: text, err: err}
	}
	err = batch.From(from.documents, decode, func(crd one) error {
		switch {
		case crd.err != nil:
			return crd.err
		case crd.unread != nil:
			s.unread = append(s.unread, crd.unread)
			return nil
		case crd.text == nil:
			return nil
		case files[crd.name] != nil && !bytes.Equal(files[crd.name], crd.text):
			return fmt.Errorf("%s: it has two different versions: name a file or a folder of the source", crd.name)
		}
		if _, err := o.path(crd.name); err != nil {
			return err
		}
		files[crd.name] = crd.text
		if size += len(crd.text); size > maxBytes || len(files) > maxCRDs {
			return fmt.Errorf("more than %d CRDs or %d MiB", maxCRDs, maxBytes>>20)
		}
		return nil
	}).Run(ctx)
	if err == nil && from.failed != nil {
		err = from.failed()
	}
	if err == nil && len(files) == 0 {
		err = errors.New("no CustomResourceDefinition")
		if len(s.unread) > 0 {
			err = fmt.Errorf("%w: %w", err, s.unread[0])
		}
	}
	if err != nil {
		return nil, nil, err
	}
	s.CRDs = slices.Sorted(maps.Keys(files))
	s.Digest = digestOf(s.CRDs, func(crd string) []byte { return files[crd] })
	return s, files, nil
}

// plain returns a CRD as YAML, without the fields that only a server or kubectl apply sets. It modifies crd.
func plain(crd map[string]any) ([]byte, error) {
	delete(crd, "status")
	if meta, ok := crd["metadata"].(map[string]any); ok {
		for _, key := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"} {
			delete(meta, key)
		}
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		}
	}
	return untrusted.YAML(crd)
}

func digestOf(names []string, content func(string) []byte) string {
	h := sha256.New()
	for _, name := range names {
		text := content(name)
		fmt.Fprintf(h, "%q %d\n", name, len(text))
		h.Write(text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func (o *Options) fetchAll(ctx context.Context, s command.Streams, names []string) (all []*source, files map[string][]byte, err error) {
	files = map[string][]byte{}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		one, its, err := o.fetch(ctx, name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		if n := len(one.unread); n > 0 {
			s.Complain(fmt.Errorf("%s: %s not read: %w", name, phrase.Count(n, "document"), one.unread[0]))
		}
		all = append(all, one)
		maps.Copy(files, its)
	}
	return all, files, nil
}

func (s *source) describe() string {
	text := phrase.Count(len(s.CRDs), "CRD")
	if s.Version != "" {
		text += " at " + s.Version
	}
	return text
}

// Add fetches sources and adds them to the lock file.
func Add(ctx context.Context, s command.Streams, o *Options, names []string) error {
	before, err := o.read()
	if err != nil {
		return err
	}
	added, files, err := o.fetchAll(ctx, s, names)
	if err != nil {
		return err
	}
	now := &lock{Sources: added}
	for _, one := range added {
		untrusted.Fprintf(s.Stdout, "%s: %s\n", one.Source, one.describe())
	}
	for _, old := range before.Sources {
		if now.find(old.Source) == nil {
			now.Sources = append(now.Sources, old)
		}
	}
	return o.write(before, now, files)
}

// Sync fetches the sources with these names, or all sources in the lock file if names is empty, and replaces the
// CRDs of the lock file by theirs. If the content of a source in the lock file has changed, it is an error, unless
// o.Update is set. The author of a tree can choose the names: see selectable.
func Sync(ctx context.Context, s command.Streams, o *Options, names []string) error {
	before, err := o.read()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		for _, old := range before.Sources {
			names = append(names, old.Source)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("no sources in %s or in crds.sources of %s: use celadon crds add", filepath.Join(o.Dir, LockName), config.Name)
	}
	now, fetch := &lock{}, []string{}
	for _, name := range names {
		err, old := o.selectable(name), before.find(name)
		switch {
		case err == nil:
			fetch = append(fetch, name)
		case old == nil:
			return fmt.Errorf("%s: %w", name, err)
		default:
			s.Complain(fmt.Errorf("%s: not fetched: %w", name, err))
			now.Sources = append(now.Sources, old)
		}
	}
	all, files, err := o.fetchAll(ctx, s, fetch)
	if err != nil {
		return err
	}
	now.Sources = append(now.Sources, all...)
	changed := before.compare(s, now)
	if changed > 0 && !o.Update {
		err := fmt.Errorf("%s changed, and nothing was written: use --update to accept the new content", phrase.Count(changed, "source"))
		return &command.ExitError{Code: command.Findings, Err: err}
	}
	return o.write(before, now, files)
}

func (l *lock) compare(s command.Streams, now *lock) (changed int) {
	for _, one := range now.Sources {
		switch old := l.find(one.Source); {
		case old == nil:
			untrusted.Fprintf(s.Stdout, "%s: new: %s\n", one.Source, one.describe())
		case one.Digest != old.Digest:
			changed++
			untrusted.Fprintf(s.Stdout, "%s: changed: %s (was %s)\n", one.Source, one.describe(), old.describe())
		}
	}
	for _, old := range l.Sources {
		if now.find(old.Source) == nil {
			untrusted.Fprintf(s.Stdout, "%s: removed: %s\n", old.Source, old.describe())
		}
	}
	return changed
}

// List prints the sources of the lock file. It opens no connection. It is a finding if the files in the folder differ
// from the lock file.
func List(s command.Streams, o *Options) error {
	l, err := o.read()
	if err != nil {
		return err
	}
	if len(l.Sources) == 0 {
		return &command.ExitError{Code: command.Usage, Err: fmt.Errorf("no sources in %s: use celadon crds add SOURCE", filepath.Join(o.Dir, LockName))}
	}
	differ := 0
	for _, one := range l.Sources {
		state := ""
		if digestOf(one.CRDs, func(crd string) []byte {
			path, _ := o.path(crd) // checked by read
			data, _ := input.ReadFile(path, maxBytes)
			return data
		}) != one.Digest {
			differ++
			state = ": the files differ from " + LockName
		}
		untrusted.Fprintf(s.Stdout, "%s: %s%s\n  %s\n", one.Source, one.describe(), state, strings.Join(one.CRDs, "\n  "))
	}
	if differ > 0 {
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}
