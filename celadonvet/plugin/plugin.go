// Package plugin provides celadonvet as a module plugin for golangci-lint. See
// https://golangci-lint.run/docs/plugins/module-plugins/.
package plugin

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/celadon-cel/celadon/celadonvet"
)

func init() { register.Plugin("celadonvet", New) }

// Settings holds the settings of the linter in .golangci.yml.
type Settings struct {
	CRD         []string `json:"crd"`
	KubeVersion string   `json:"kube-version"`
	NoLint      []string `json:"no-lint"`
	NoAdvice    bool     `json:"no-advice"`
}

// New returns the plugin for the settings that golangci-lint decoded from its configuration.
func New(settings any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](settings)
	return linter(s), err
}

type linter Settings

func (l linter) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	cfg := celadonvet.Config{CRDs: l.CRD, KubeVersion: l.KubeVersion, WithoutLints: l.NoLint, NoAdvice: l.NoAdvice}
	return []*analysis.Analyzer{celadonvet.New(cfg)}, nil
}

func (linter) GetLoadMode() string { return register.LoadModeSyntax }
