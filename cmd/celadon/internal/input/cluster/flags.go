// Package cluster reads CustomResourceDefinitions and objects from a Kubernetes API
// server, as kubectl get would, and asks it for nothing else.
//
//	client, err := flags.Open()
//	crds, failed := client.CRDs(ctx, nil)
//	objects := client.Objects(ctx, kinds)
//
// What comes are chunks of package input, each with one object, in the order of the
// server: a list is never held, however long it is.
package cluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/clientcmd"
)

// How it works. The kubeconfig is read, and what it says is run, only once Open is
// called, which is with --cluster: no file in a tree under check can set that. The
// server may be hostile. All of it that is held has a bound (transport.go, page.go),
// what it says of the next page too (list.go), and of its names only those get into a
// path that could be names (kind.go). A list goes on behind the object that was read
// last, so that one that breaks off or expires gives no object twice.

// Flags are those of commands that can read from a cluster.
type Flags struct {
	On                           bool
	Context, Namespace, Selector string
}

// Add adds the flags that choose a cluster and a namespace in it.
func (f *Flags) Add(fs *pflag.FlagSet, what string) {
	fs.BoolVar(&f.On, "cluster", false, what)
	fs.StringVar(&f.Context, "context", "", "with --cluster: the kubeconfig's `CONTEXT` (default its current one)")
	fs.StringVarP(&f.Namespace, "namespace", "n", "", "with --cluster: read only what is in a `NAMESPACE`")
}

// AddSelector adds the flag that chooses objects.
func (f *Flags) AddSelector(fs *pflag.FlagSet) {
	fs.StringVarP(&f.Selector, "selector", "l", "", "with --cluster: read only objects with these `LABELS`, as kubectl get")
}

// Check says what is wrong with the flags.
func (f *Flags) Check() error {
	for _, flag := range []struct{ name, value string }{{"context", f.Context}, {"namespace", f.Namespace}, {"selector", f.Selector}} {
		if flag.value != "" && !f.On {
			return fmt.Errorf("--%s: want --cluster too", flag.name)
		}
	}
	if f.Namespace != "" {
		if bad := validation.IsDNS1123Label(f.Namespace); len(bad) > 0 {
			return fmt.Errorf("--namespace %q: %s", f.Namespace, bad[0])
		}
	}
	if _, err := labels.Parse(f.Selector); err != nil {
		return fmt.Errorf("--selector %q: %w", f.Selector, err)
	}
	return nil
}

// Complete completes the flags from the kubeconfig, and asks no server.
func Complete(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return contexts(), cobra.ShellCompDirectiveNoFileComp
	})
	for _, flag := range []string{"namespace", "selector"} {
		if cmd.Flag(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
		}
	}
}

// contexts are those of the kubeconfig; none where it cannot be read.
func contexts() []string {
	cfg, err := rules().Load()
	if err != nil {
		return nil
	}
	var names []string
	for name := range cfg.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// rules say where the user's kubeconfig is: as kubectl has it, without its warnings.
func rules() *clientcmd.ClientConfigLoadingRules {
	r := clientcmd.NewDefaultClientConfigLoadingRules()
	r.WarnIfAllMissing = false
	return r
}

var errNoConfig = errors.New("no kubeconfig: want one in $KUBECONFIG or ~/.kube/config, or to run in a pod")
