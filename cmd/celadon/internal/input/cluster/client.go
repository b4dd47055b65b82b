// Package cluster reads CustomResourceDefinitions and objects from a Kubernetes API server, as kubectl get does.
// Its only other request is for the server's version.
//
//	client, err := flags.Connect(ctx, complain, &kubeVersion)
//	crds, failed := client.CRDs(ctx, nil)
//	objects := client.Objects(ctx, kinds)
//
// The results are chunks of package input with one object each, in the server's order. A list is
// streamed.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/types"
)

// How it works. The kubeconfig is read, and its credential plugins are run, only after Open is called. No file in a
// checked tree can cause that: it cannot set --cluster, and crds sync reads a cluster only with --kubeconfig. The
// server is untrusted: everything that is held has a limit (transport.go, list.go), including its statements about
// further pages (list.go), and only valid names become part of a request's path (kind.go). If a list expires,
// reading continues with the server's token for the rest, so that no object is yielded twice. If a list breaks off,
// it is reported as incomplete.

// A Client reads from one API server, one request at a time.
type Client struct {
	// Warn is called with problems that do not stop reading. It must not be nil.
	Warn func(error)

	rest      *rest.RESTClient
	context   string
	namespace string // "" means all
	fallback  string // the namespace of the kubeconfig's context
	implied   bool   // namespace is the fallback
	selector  string

	silence, slowness time.Duration // timeouts; constant except in tests
}

const (
	requestsPerSecond = 50
	burst             = 100
)

// Connect returns a client that reports problems to tell, or nil without --cluster. If *kubeVersion is "", Connect
// sets it to the result of Client.KubeVersion.
func (f *Flags) Connect(ctx context.Context, tell func(error), kubeVersion *string) (*Client, error) {
	if !f.On {
		return nil, nil
	}
	client, err := f.Open()
	if err != nil {
		return nil, err
	}
	client.Warn = tell
	if *kubeVersion == "" {
		*kubeVersion, err = client.KubeVersion(ctx)
	}
	return client, err
}

// Open returns a client for the API server of the kubeconfig. It does not connect yet.
func (f *Flags) Open() (*Client, error) {
	if err := f.checkKubeconfig(); err != nil {
		return nil, err
	}
	kube := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(f.rules(), &clientcmd.ConfigOverrides{CurrentContext: f.Context})
	cfg, err := kube.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		err = errNoConfig
	}
	if known := f.contexts(); err != nil && len(known) > 0 && f.Context != "" && !slices.Contains(known, f.Context) {
		return nil, fmt.Errorf("--context %q: the kubeconfig has no such context (it has %s)", f.Context, strings.Join(known, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	c := &Client{
		Warn: func(error) {}, context: f.Context, namespace: f.Namespace, selector: f.Selector, silence: silence, slowness: slowness,
	}
	if raw, err := kube.RawConfig(); err == nil && c.context == "" {
		c.context = raw.CurrentContext
	}
	if c.fallback, _, err = kube.Namespace(); err != nil {
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	if bad := validation.IsDNS1123Label(c.fallback); len(bad) > 0 {
		return nil, fmt.Errorf("--cluster: the context's namespace %q: %s", c.fallback, bad[0])
	}
	if c.implied = !f.All && c.namespace == ""; c.implied {
		c.namespace = c.fallback
	}
	if err := c.connect(cfg); err != nil {
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	return c, nil
}

func (f *Flags) checkKubeconfig() error {
	if f.Kubeconfig == "" {
		return nil
	}
	_, err := clientcmd.LoadFromFile(f.Kubeconfig)
	if runtime.IsNotRegisteredError(err) {
		err = errors.New("not a kubeconfig: want kind: Config")
	}
	if err != nil {
		return fmt.Errorf("--kubeconfig: %s: %w", f.Kubeconfig, input.WithoutPath(err))
	}
	return nil
}

func (c *Client) connect(cfg *rest.Config) error {
	cfg.QPS, cfg.Burst = requestsPerSecond, burst
	cfg.UserAgent = "celadon"
	cfg.WarningHandler = rest.NoWarnings{} // they concern deprecated versions, which vet reports
	cfg.AcceptContentTypes, cfg.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // for the server's Status
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &noRetryTransport{next, c} })
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	client.CheckRedirect = func(to *http.Request, _ []*http.Request) error {
		return fmt.Errorf("the server redirects to %s, which an API server does not do", to.URL.Host)
	}
	c.rest, err = rest.UnversionedRESTClientForConfigAndClient(cfg, client)
	return err
}

// String returns the name of the cluster for messages.
func (c *Client) String() string {
	if c.context == "" {
		return "the cluster of this pod"
	}
	return "the cluster of context " + c.context
}

func (c *Client) get(ctx context.Context, path []string, parameters map[string]string) (io.ReadCloser, error) {
	req := c.rest.Get().AbsPath(path...)
	for name, value := range parameters {
		if value != "" {
			req.Param(name, value)
		}
	}
	return req.Stream(ctx)
}

// KubeVersion returns the server's Kubernetes version, or the nearest version that this build supports. If the server
// responds with an error, the result is "", which means the newest supported version.
func (c *Client) KubeVersion(ctx context.Context) (string, error) {
	body, err := c.get(ctx, []string{"/version"}, nil)
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		c.Warn(fmt.Errorf("%s does not report its version: assuming %s: %w", c, types.Version{Minor: types.Newest}, err))
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer body.Close()
	var version struct{ Major, Minor string }
	if err := json.NewDecoder(io.LimitReader(body, maxStatus)).Decode(&version); err != nil {
		return "", fmt.Errorf("%s: no response from an API server: %w", c, err)
	}
	minor, err := strconv.Atoi(strings.TrimRight(version.Minor, "+")) // providers may return 31+
	if err != nil || version.Major != "1" {
		return "", fmt.Errorf("%s: Kubernetes %q.%q: use --kube-version X.Y", c, version.Major, version.Minor)
	}
	known := types.Version{Minor: min(max(minor, types.Oldest), types.Last)}
	if known.Minor != minor {
		c.Warn(fmt.Errorf("%s runs Kubernetes 1.%d, which this build does not support: assuming %s", c, minor, known))
	}
	return known.String(), nil
}

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

// Complete registers shell completion of the flags. It sends no requests.
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

func (f *Flags) contexts() []string {
	cfg, err := f.rules().Load()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(cfg.Contexts))
}

func (f *Flags) rules() *clientcmd.ClientConfigLoadingRules {
	r := clientcmd.NewDefaultClientConfigLoadingRules()
	r.WarnIfAllMissing, r.ExplicitPath = false, f.Kubeconfig
	return r
}

var errNoConfig = errors.New("no kubeconfig: set $KUBECONFIG, create ~/.kube/config, or run in a pod")
