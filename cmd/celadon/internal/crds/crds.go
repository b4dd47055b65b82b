// Package crds implements celadon crds, which copies CRDs from other sources into a folder that celadon check reads.
// A lock file in the folder lists the sources, so that check needs no network.
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
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
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
	Update     bool
	Kubeconfig string
}

// Flags adds the flags to f, including network flags if fetches is set.
func (o *Options) Flags(f *pflag.FlagSet, fetches bool) {
	f.StringVar(&o.Dir, "dir", "crds", "`FOLDER` of the CRDs and of "+LockName)
	if fetches {
		f.BoolVar(&o.Private, "private-addresses", false, "allow http, and connections to addresses in private networks")
		f.StringVar(&o.Kubeconfig, "kubeconfig", "", "for cluster: sources: `KUBECONFIG` to read (default: as kubectl)")
	}
}

// lock is the content of the lock file.
type lock struct {
	Sources []*source `json:"sources"`
}

type source struct {
	Source string `json:"source"`
	// Version is a commit, or the version of a module or chart, if it is known.
	Version string `json:"version,omitempty"`
	// Digest is the digest of the CRDs' files, in the order of their names.
	Digest string   `json:"digest"`
	CRDs   []string `json:"crds"`

	unread []error // documents that are not YAML
}

func (o *Options) read() (*lock, error) {
	data, err := input.ReadFile(filepath.Join(o.Dir, LockName), maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return &lock{Sources: []*source{}}, nil
	}
	l := &lock{}
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(l)
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

// write writes the CRDs of the sources in fetched, removes those that no source has any more, and writes the lock file.
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
	text, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	return outfile.Write(filepath.Join(o.Dir, LockName), append(text, '\n'))
}

// fetch reads a source. It returns the files of its CRDs by name.
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
	s := &source{Source: name, Version: from.version, CRDs: []string{}}
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
		err = errors.Join(append([]error{errors.New("no CustomResourceDefinition")}, s.unread[:min(1, len(s.unread))]...)...)
	}
	if err != nil {
		return nil, nil, err
	}
	for crd := range files {
		s.CRDs = append(s.CRDs, crd)
	}
	slices.Sort(s.CRDs)
	s.Digest = digest(s.CRDs, func(crd string) []byte { return files[crd] })
	return s, files, nil
}

// plain returns a CRD as YAML, without what only a server sets.
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

func digest(names []string, content func(string) []byte) string {
	h := sha256.New()
	for _, name := range names {
		text := content(name)
		fmt.Fprintf(h, "%q %d\n", name, len(text))
		h.Write(text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Add fetches sources and adds them to the lock file.
func Add(ctx context.Context, s command.Streams, o *Options, names []string) error {
	before, err := o.read()
	if err != nil {
		return err
	}
	now, all := &lock{Sources: slices.Clone(before.Sources)}, map[string][]byte{}
	for _, name := range names {
		one, files, err := o.fetch(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		one.complain(s)
		now.Sources = slices.DeleteFunc(now.Sources, func(s *source) bool { return s.Source == name })
		now.Sources = append(now.Sources, one)
		for crd, text := range files {
			all[crd] = text
		}
		untrusted.Fprintf(s.Stdout, "%s: %s\n", name, one.describe())
	}
	slices.SortFunc(now.Sources, func(a, b *source) int { return cmp.Compare(a.Source, b.Source) })
	return o.write(before, now, all)
}

// complain reports that some documents were not read.
func (s *source) complain(to command.Streams) {
	if n := len(s.unread); n > 0 {
		to.Complain(fmt.Errorf("%s: %s not read: %w", s.Source, phrase.Count(n, "document"), s.unread[0]))
	}
}

func (s *source) describe() string {
	text := phrase.Count(len(s.CRDs), "CRD")
	if s.Version != "" {
		text += " at " + s.Version
	}
	return text
}

// Sync fetches the sources of the lock file again. If their content has changed, it is an error, unless o.Update is set.
func Sync(ctx context.Context, s command.Streams, o *Options) error {
	before, err := o.read()
	if err != nil {
		return err
	}
	if len(before.Sources) == 0 {
		return fmt.Errorf("no sources in %s: use celadon crds add", filepath.Join(o.Dir, LockName))
	}
	now, all, changed := &lock{}, map[string][]byte{}, 0
	for _, old := range before.Sources {
		one, files, err := o.fetch(ctx, old.Source)
		if err != nil {
			return fmt.Errorf("%s: %w", old.Source, err)
		}
		one.complain(s)
		if one.Digest != old.Digest {
			changed++
			untrusted.Fprintf(s.Stdout, "%s: changed: %s (was %s)\n", old.Source, one.describe(), old.describe())
		}
		now.Sources = append(now.Sources, one)
		for crd, text := range files {
			all[crd] = text
		}
	}
	if changed > 0 && !o.Update {
		err := fmt.Errorf("%s changed, and nothing was written: use --update to accept the new content", phrase.Count(changed, "source"))
		return &command.ExitError{Code: command.Findings, Err: err}
	}
	return o.write(before, now, all)
}

// List prints the sources of the lock file. It opens no connection. A folder whose files differ from it is a finding.
func List(s command.Streams, o *Options) error {
	l, err := o.read()
	if err != nil {
		return err
	}
	differ := 0
	for _, one := range l.Sources {
		state := ""
		if digest(one.CRDs, func(crd string) []byte {
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
