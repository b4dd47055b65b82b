package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
)

// configKeys returns the classes of the flags of the commands that read a configuration file, by section. The
// values of arguments are FromTree.
func configKeys() map[string]map[string]config.Class {
	all := map[string]map[string]config.Class{}
	eachCommand((&app{}).root(), "", func(name string, cmd *cobra.Command) {
		if cmd.Flags().Lookup("no-config") == nil {
			return
		}
		section := strings.ReplaceAll(strings.TrimSuffix(name, " sync"), " ", "-")
		all[section] = map[string]config.Class{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { all[section][f.Name] = config.ClassOf(f) })
		if arguments := map[string]string{"check": "objects", "vet": "crds", "diff": "crds", "test": "suites", "crds": "sources"}[section]; arguments != "" {
			all[section][arguments] = config.FromTree
		}
	})
	return all
}

// TestConfigKeys checks the classes of flags. A new flag is ByHand until its author has considered a hostile tree:
// TestAttackConfig tests the flags that a tree may set.
func TestConfigKeys(t *testing.T) {
	t.Parallel()
	all := configKeys()
	if len(all) != 9 {
		t.Errorf("%d commands: want check, convert test, crds sync, diff, eval, find, repl, test and vet", len(all))
	}
	for section, keys := range all {
		testConfigKeys(t, section, keys)
	}
}

func testConfigKeys(t *testing.T, section string, keys map[string]config.Class) {
	for key, class := range keys {
		if (key == "out" || strings.HasSuffix(key, "-out")) && class == config.FromTree {
			t.Errorf("%s --%s writes: a file in the tree must not set it", section, key)
		}
	}
	// In no command may a file in the tree set these keys.
	for _, key := range []string{
		"base", "old", "crd-old", "subresource", "max-findings", "exclude", "skip", "exec", "convert", "cluster",
		"fix", "update", "no-vet", "no-lint", "allow", "watch", "config", "no-config", "baseline", "follow", "kube-version", "to-kube-version", "validate",
		"dir", "private-addresses", "logins", "kubeconfig",
	} {
		if keys[key] == config.FromTree {
			t.Errorf("%s %s: a file in the tree must not set it", section, key)
		}
	}
}
