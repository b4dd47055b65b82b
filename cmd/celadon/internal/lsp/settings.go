package lsp

import (
	"encoding/json"
	"slices"
)

// settings are what the user says, in initializationOptions or as "celadon" in the
// configuration.
type settings struct {
	// KubeVersion is the Kubernetes X.Y to stand for; "" is the newest.
	KubeVersion string `json:"kubeVersion"`
	// NoLint are lints that are switched off.
	NoLint []string `json:"noLint"`
	// Trusted is true where the user trusts the workspace, as the editor asks: then its
	// Go packages are read.
	Trusted bool `json:"trusted"`
}

// parseSettings takes what it knows.
func parseSettings(data json.RawMessage, before settings) (settings, error) {
	if len(data) == 0 || string(data) == "null" {
		return before, nil
	}
	var wrapped struct {
		Celadon json.RawMessage `json:"celadon"`
	}
	if err := json.Unmarshal(data, &wrapped); err == nil && wrapped.Celadon != nil {
		data = wrapped.Celadon
	}
	now := before
	if err := json.Unmarshal(data, &now); err != nil {
		return before, err
	}
	return now, nil
}

func (a settings) equal(b settings) bool {
	return a.KubeVersion == b.KubeVersion && a.Trusted == b.Trusted && slices.Equal(a.NoLint, b.NoLint)
}
