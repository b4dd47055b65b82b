package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
)

// versions are the Kubernetes versions for objects and for CRDs; "" is the newest.
type versions struct{ objects, crds string }

// configure applies settings, together with the workspace's .celadon.yaml. If they are invalid, the
// server keeps its previous state. It reports whether documents must be analyzed again, and whether
// CRDs must also be read again.
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
	reviewer, err := vet.NewReviewer(ctx, o)
	if err != nil {
		return false, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if crds = s.vet == nil || v.objects != was.objects; crds {
		s.crds.reset(v.objects)
	}
	s.vet, s.goReviewer, s.settings, s.versions = reviewer, vet.NewGoReviewer(reviewer, o), now, v
	return true, crds, nil
}

// reconfigure calls configure after documents were opened, and analyzes them again if necessary.
func (s *server) reconfigure(change func(settings) (settings, error)) {
	documents, crds, err := s.configure(s.ctx, change)
	if err != nil {
		s.log(protocol.Error, "settings: "+err.Error())
	}
	if documents {
		go s.analyzeAll(crds)
	}
}

// versionsOf returns the version in the editor's settings, or else the versions that check and vet
// would use at the top of the workspace, so that the editor reports the same as CI.
func (s *server) versionsOf(now settings, was versions) versions {
	if now.KubeVersion != "" {
		return versions{now.KubeVersion, now.KubeVersion}
	}
	for _, root := range s.folders() {
		data, err := input.ReadBelow(root, config.Name, config.Most)
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

// fileVersion returns the Kubernetes version that the file in root sets for a command. As in CI,
// versions older than the default are ignored; the editor's settings can select them.
func (s *server) fileVersion(root string, data []byte, command string) (string, error) {
	version, note, err := config.KubeVersion(data, command)
	if note != "" {
		s.log(protocol.Warning, filepath.Join(root, config.Name)+": "+note)
	}
	return version, err
}

// asBefore keeps the settings, for use when only a file has changed.
func asBefore(before settings) (settings, error) { return before, nil }

// fileChanged applies the workspace's .celadon.yaml again if path is such a file.
func (s *server) fileChanged(path string) {
	if filepath.Base(path) == config.Name {
		go s.guard(path, func() { s.reconfigure(asBefore) })
	}
}

// analyzeAll analyzes all open documents again. If crds is set, it first searches the workspace for
// CRDs again.
func (s *server) analyzeAll(crds bool) {
	if crds {
		s.findCRDs(s.ctx, s.folders())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds.mark(slices.Collect(maps.Keys(s.docs))...)
}
