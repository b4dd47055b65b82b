package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/types"
)

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
	// The rate limits equal kubectl's. In practice, sending one request at a time is slower.
	requestsPerSecond = 50
	burst             = 100
)

// Open returns a client for the API server of the kubeconfig. It does not connect yet.
func (f *Flags) Open() (*Client, error) {
	return f.open(Client{silence: silence, slowness: slowness})
}

// Connect returns a client that reports problems to tell, or nil without --cluster. If *kubeVersion is
// "", Connect sets it to the version of the cluster.
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

// open is Open with the timeouts of from.
func (f *Flags) open(from Client) (*Client, error) {
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
	c := &from
	c.Warn = func(error) {}
	c.context, c.namespace, c.selector = f.Context, f.Namespace, f.Selector
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

// checkKubeconfig returns an error if --kubeconfig names a file that is not a kubeconfig.
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
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &noRetryTransport{next, c.silence, c.slowness} })
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

// get requests a path and returns the body of the response. If the server is busy, the request is
// repeated after the time that the server sets.
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
// does not report its version, the result is "", which means the newest supported version.
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
