package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
)

// TestConfigKeys fails if a flag of a command that reads a configuration file has no class. A new flag
// is ByHand until its author has considered a hostile tree: TestAttackConfig tests the flags that a
// tree may set.
func TestConfigKeys(t *testing.T) {
	t.Parallel()
	served := 0
	eachCommand((&app{}).root(), "", func(name string, cmd *cobra.Command) {
		section := strings.ReplaceAll(name, " ", "-")
		if config.Keys(section) != nil {
			served++
			testConfigKeys(t, cmd, config.Keys(section))
		}
	})
	if served != 8 {
		t.Errorf("%d commands: want check, convert test, diff, eval, find, repl, test and vet", served)
	}
}

func testConfigKeys(t *testing.T, cmd *cobra.Command, keys map[string]config.Class) {
	cmd.InitDefaultHelpFlag()
	known := map[string]bool{"objects": true, "crds": true, "suites": true}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		known[f.Name] = true
		if keys[f.Name] == 0 {
			t.Errorf("%s --%s is in no class", cmd.Name(), f.Name)
		}
		if strings.HasSuffix(f.Name, "-out") && keys[f.Name] == config.FromTree {
			t.Errorf("%s --%s writes: a file in the tree must not set it", cmd.Name(), f.Name)
		}
	})
	for key := range keys {
		if !known[key] {
			t.Errorf("%s: %s is not a flag", cmd.Name(), key)
		}
	}
	// In no command may a file in the tree set these keys.
	for _, key := range []string{
		"base", "old", "crd-old", "subresource", "max-findings", "exclude", "skip", "exec", "convert", "cluster",
		"fix", "update", "no-vet", "no-lint", "allow", "watch", "config", "no-config", "baseline", "follow", "kube-version", "to-kube-version", "validate",
	} {
		if keys[key] == config.FromTree {
			t.Errorf("%s %s: a file in the tree must not set it", cmd.Name(), key)
		}
	}
}
