// Package cluster reads CustomResourceDefinitions and objects from a Kubernetes API server, as
// kubectl get does. It sends no other requests.
//
//	client, err := flags.Connect(ctx, complain, &kubeVersion)
//	crds, failed := client.CRDs(ctx, nil)
//	objects := client.Objects(ctx, kinds)
//
// The results are chunks of package input with one object each, in the server's order. A list is
// streamed, however long it is.
package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/clientcmd"
)

// How it works. The kubeconfig is read, and its credential plugins are run, only when Open is called, which requires
// --cluster. No file in a checked tree can set that flag. The server is untrusted: everything that is held has a limit
// (transport.go, page.go), including its statements about further pages (list.go), and only valid names become part of
// a request's path (kind.go). If a list breaks off or expires, reading continues after the last object that was read,
// so that no object is yielded twice.

// Flags are the flags of commands that can read from a cluster.
type Flags struct {
	On, All                                  bool
	Context, Kubeconfig, Namespace, Selector string
}

// Add adds the flags that choose a cluster and a namespace. The argument what describes --cluster.
func (f *Flags) Add(fs *pflag.FlagSet, what string) {
	fs.BoolVar(&f.On, "cluster", false, what)
	fs.StringVar(&f.Context, "context", "", "with --cluster: use `CONTEXT` of the kubeconfig (default: the current context)")
	fs.StringVar(&f.Kubeconfig, "kubeconfig", "", "with --cluster: `KUBECONFIG` to read (default: as kubectl)")
	fs.StringVarP(&f.Namespace, "namespace", "n", "", "with --cluster: read only objects in `NAMESPACE` (default: that of the context)")
	fs.BoolVarP(&f.All, "all-namespaces", "A", false, "with --cluster: read the objects of all namespaces")
}

// AddSelector adds the flag that chooses objects.
func (f *Flags) AddSelector(fs *pflag.FlagSet) {
	fs.StringVarP(&f.Selector, "selector", "l", "", "with --cluster: read only objects with these `LABELS`, as in kubectl get")
}

// Check returns an error if the flags are invalid.
func (f *Flags) Check() error {
	for _, flag := range []struct{ name, value string }{{"context", f.Context}, {"kubeconfig", f.Kubeconfig}, {"namespace", f.Namespace}, {"selector", f.Selector}} {
		if flag.value != "" && !f.On {
			return fmt.Errorf("--%s: use it with --cluster", flag.name)
		}
	}
	if f.All && (!f.On || f.Namespace != "") {
		return errors.New("--all-namespaces: use it with --cluster, and without --namespace")
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

// Complete registers shell completion of the flags from the kubeconfig. It sends no requests.
func Complete(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return new(Flags).contexts(), cobra.ShellCompDirectiveNoFileComp
	})
	for _, flag := range []string{"namespace", "selector"} {
		if cmd.Flag(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
		}
	}
}

// contexts returns the names of the kubeconfig's contexts, or nil if the kubeconfig cannot be read.
func (f *Flags) contexts() []string {
	cfg, err := f.rules().Load()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(cfg.Contexts))
}

// rules returns kubectl's rules for finding the kubeconfig, without its warnings.
func (f *Flags) rules() *clientcmd.ClientConfigLoadingRules {
	r := clientcmd.NewDefaultClientConfigLoadingRules()
	r.WarnIfAllMissing, r.ExplicitPath = false, f.Kubeconfig
	return r
}

var errNoConfig = errors.New("no kubeconfig: set $KUBECONFIG, create ~/.kube/config, or run in a pod")
