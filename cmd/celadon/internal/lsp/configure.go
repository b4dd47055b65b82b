package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
)

// versions are the Kubernetes versions that objects and CRDs are looked at with; "" is
// the newest.
type versions struct{ objects, crds string }

// configure takes settings, and what the workspace's .celadon.yaml says beside them;
// with ones that cannot be the server goes on as before. It says what has changed by it:
// how documents are looked at, or also what is known of CRDs.
func (s *server) configure(ctx context.Context, change func(before settings) (settings, error)) (documents, crds bool, err error) {
	s.configuring.Lock()
	defer s.configuring.Unlock()
	s.mu.Lock()
	before, was := s.settings, s.versions
	s.mu.Unlock()
	now, err := change(before)
	if err != nil {
		return false, false, err
	}
	v := s.versionsOf(now, was)
	if s.vet != nil && now.equal(before) && v == was {
		return false, false, nil
	}
	o := &vet.Options{KubeVersion: v.crds, NoLints: now.NoLint}
	desk, err := vet.NewReviewer(ctx, o)
	if err != nil {
		return false, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if crds = s.vet == nil || v.objects != was.objects; crds {
		s.crds.reset(v.objects)
	}
	s.vet, s.goDesk, s.settings, s.versions = desk, vet.NewGoReviewer(desk, o), now, v
	return true, crds, nil
}

// reconfigure is configure once documents are open.
func (s *server) reconfigure(change func(settings) (settings, error)) {
	documents, crds, err := s.configure(s.ctx, change)
	if err != nil {
		s.log(protocol.Error, "settings: "+err.Error())
	}
	if documents {
		go s.lookAgain(crds)
	}
}

// versionsOf are what the editor's settings name, or else what check and vet would go by
// on top of the workspace: then the editor says what a run of CI does.
func (s *server) versionsOf(now settings, was versions) versions {
	if now.KubeVersion != "" {
		return versions{now.KubeVersion, now.KubeVersion}
	}
	for _, root := range s.folders() {
		data, err := onTop(root)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var v versions
		if err == nil {
			v.objects, err = s.fileVersion(root, data, "check")
		}
		if err == nil {
			v.crds, err = s.fileVersion(root, data, "vet")
		}
		if err != nil {
			s.log(protocol.Error, fmt.Sprintf("%s: %v", filepath.Join(root, config.Name), err))
			return was
		}
		return v
	}
	return versions{}
}

// onTop reads the .celadon.yaml in a folder, by way of no link out of it.
func onTop(root string) ([]byte, error) {
	folder, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := input.Below(folder).Open(config.Name)
	if err != nil {
		return nil, input.WithoutPath(err)
	}
	defer f.Close()
	return input.ReadAll(f, config.Most)
}

// fileVersion returns the Kubernetes version that the file in root sets for a command. An older version does not count, as in
// CI: the editor's settings can name it.
func (s *server) fileVersion(root string, data []byte, command string) (string, error) {
	version, note, err := config.KubeVersion(data, command)
	if note != "" {
		s.log(protocol.Warning, filepath.Join(root, config.Name)+": "+note)
	}
	return version, err
}

// asBefore changes no settings: what stands in a file has.
func asBefore(before settings) (settings, error) { return before, nil }

// fileChanged looks at the workspace's .celadon.yaml again, if it is that.
func (s *server) fileChanged(path string) {
	if filepath.Base(path) == config.Name {
		go s.guard(path, func() { s.reconfigure(asBefore) })
	}
}

// lookAgain looks at all open documents, and where all CRDs are to be read again at
// those.
func (s *server) lookAgain(crds bool) {
	if crds {
		s.findCRDs(s.ctx, s.folders())
	}
	s.docs.mu.Lock()
	defer s.docs.mu.Unlock()
	for uri := range s.docs.all {
		s.rounds.mark(uri)
	}
}
