package lsp

import (
	"encoding/json"
	"slices"
)

// settings are the user's settings, from initializationOptions or the configuration section
// "celadon".
type settings struct {
	// KubeVersion is the Kubernetes version X.Y to emulate; "" is the newest.
	KubeVersion string `json:"kubeVersion"`
	// NoLint lists disabled lints.
	NoLint []string `json:"noLint"`
	// Trusted is set if the user trusts the workspace, according to the editor. Only then are Go
	// packages read.
	Trusted bool `json:"trusted"`
}

// parseSettings applies data to the previous settings. Unknown fields are ignored.
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
