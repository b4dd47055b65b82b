package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestConfigKeys wants each flag of celadon check judged: who may set it in a
// file? A new one is by hand until someone has thought of a hostile tree.
func TestConfigKeys(t *testing.T) {
	t.Parallel()
	cmd := (&app{}).checkCommand()
	cmd.InitDefaultHelpFlag()
	known := map[string]bool{"objects": true}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		known[f.Name] = true
		if configKeys[f.Name] == 0 {
			t.Errorf("--%s is in no class of configKeys", f.Name)
		}
		if strings.HasSuffix(f.Name, "-out") && configKeys[f.Name] == fromTree {
			t.Errorf("--%s writes: a file in the tree must not set it", f.Name)
		}
	})
	for key := range configKeys {
		if !known[key] {
			t.Errorf("%s is no flag", key)
		}
	}
	// What these do is known from what they are for, here or in another command.
	for _, key := range []string{
		"base", "old", "crd-old", "subresource", "max-findings", "exclude", "skip", "solver", "exec", "convert", "cluster",
		"fix", "update", "no-vet", "allow", "watch", "config", "no-config", "baseline",
	} {
		if configKeys[key] == fromTree {
			t.Errorf("%s: a file in the tree must not set it", key)
		}
	}
}
