package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/config"
)

// TestConfigKeys wants each flag judged of each command that a file serves: who
// may set it in a file? A new one is by hand until someone has thought of a
// hostile tree.
func TestConfigKeys(t *testing.T) {
	t.Parallel()
	served := 0
	for _, cmd := range (&app{}).root().Commands() {
		if config.Keys(cmd.Name()) != nil {
			served++
			testConfigKeys(t, cmd)
		}
	}
	if served != 7 {
		t.Errorf("%d commands: want check, diff, eval, find, repl, test and vet", served)
	}
}

func testConfigKeys(t *testing.T, cmd *cobra.Command) {
	keys := config.Keys(cmd.Name())
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
			t.Errorf("%s: %s is no flag", cmd.Name(), key)
		}
	}
	// What these do is known from what they are for, here or in another command.
	for _, key := range []string{
		"base", "old", "crd-old", "subresource", "max-findings", "exclude", "skip", "solver", "exec", "convert", "cluster",
		"fix", "update", "no-vet", "no-lint", "allow", "watch", "config", "no-config", "baseline",
	} {
		if keys[key] == config.FromTree {
			t.Errorf("%s %s: a file in the tree must not set it", cmd.Name(), key)
		}
	}
}
