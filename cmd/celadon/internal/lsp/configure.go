package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
)

// settings are the user's settings, from initializationOptions or the configuration section
// "celadon".
type settings struct {
	// KubeVersion is the Kubernetes version X.Y to emulate. If it is "", the workspace's .celadon.yaml
	// determines it, or else it is the newest.
	KubeVersion string   `json:"kubeVersion"`
	NoLint      []string `json:"noLint"`
	// Trusted is set if the user trusts the workspace, according to the editor. Only then are Go
	// packages read.
	Trusted bool `json:"trusted"`
}

// with returns the settings after applying data, or the field celadon of data if it exists. Unknown
// fields are ignored.
func (a settings) with(data json.RawMessage) (settings, error) {
	var section struct {
		Celadon json.RawMessage `json:"celadon"`
	}
	if err := json.Unmarshal(data, &section); err == nil && section.Celadon != nil {
		data = section.Celadon
	}
	if len(data) == 0 {
		return a, nil
	}
	a.NoLint = slices.Clone(a.NoLint) // the decoder would overwrite the items
	err := json.Unmarshal(data, &a)
	return a, err
}

// versions are the Kubernetes versions for objects and for CRDs; "" is the newest.
type versions struct{ objects, crds string }

// configure applies changed settings, if any, together with the workspace's .celadon.yaml. If they are invalid, the
// server keeps its previous state. It reports whether documents must be analyzed again, and whether
// CRDs must also be read again.
func (s *server) configure(ctx context.Context, changed json.RawMessage) (documents, crds bool, err error) {
	s.configuring.Lock()
	defer s.configuring.Unlock()
	s.mu.Lock()
	before, was := s.settings, s.versions
	s.mu.Unlock()
	now, err := before.with(changed)
	if err != nil {
		return false, false, err
	}
	v := s.versionsOf(now, was)
	if s.vet != nil && reflect.DeepEqual(now, before) && v == was {
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

func (s *server) reconfigure(changed json.RawMessage) {
	documents, crds, err := s.configure(s.ctx, changed)
	if err != nil {
		s.log(protocol.Error, "settings: "+err.Error())
	}
	if !documents {
		return
	}
	go func() {
		if crds {
			s.findCRDs(s.ctx, s.folders())
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rounds.mark(slices.Collect(maps.Keys(s.docs))...)
	}()
}

// versionsOf returns the version in the editor's settings, or else the versions that check and vet would use
// at the top of the workspace, so that the editor reports the same as CI. As in CI, versions in the workspace
// that could weaken a check are ignored; the editor's settings can select them. If the workspace's file is
// invalid, versionsOf returns was.
func (s *server) versionsOf(now settings, was versions) versions {
	if now.KubeVersion != "" {
		return versions{now.KubeVersion, now.KubeVersion}
	}
	for _, root := range s.folders() {
		data, err := input.ReadBelow(root, config.Name, config.Most)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		path := filepath.Join(root, config.Name)
		version := func(command string) (version string) {
			var note string
			if err == nil {
				version, note, err = config.KubeVersion(data, command)
			}
			if note != "" {
				s.log(protocol.Warning, path+": "+note)
			}
			return version
		}
		v := versions{version("check"), version("vet")}
		if err != nil {
			s.log(protocol.Error, fmt.Sprintf("%s: %v", path, err))
			return was
		}
		return v
	}
	return versions{}
}

func (s *server) fileChanged(path string) {
	if filepath.Base(path) == config.Name {
		go s.guard(path, func() { s.reconfigure(nil) })
	}
}
