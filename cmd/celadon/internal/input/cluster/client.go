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

	"github.com/celadon-cel/celadon/types"
)

// Client asks one API server, one request after the other.
type Client struct {
	// Tell is told of what is no error; nil is nobody.
	Tell func(error)

	rest      *rest.RESTClient
	context   string
	namespace string // "" is all
	fallback  string // the namespace of the context
	selector  string

	silence, slowness, pause time.Duration // constants, but in tests
}

const (
	// kubectl asks as fast; one request at a time is what rules.
	requestsPerSecond = 50
	burst             = 100
)

// Open finds the API server in the kubeconfig, and does not ask it yet.
func (f *Flags) Open() (*Client, error) {
	return f.open(Client{silence: silence, slowness: slowness, pause: time.Second})
}

// open is Open for a client that knows how long to wait.
func (f *Flags) open(from Client) (*Client, error) {
	kube := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules(), &clientcmd.ConfigOverrides{CurrentContext: f.Context})
	cfg, err := kube.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		err = errNoConfig
	}
	if known := contexts(); err != nil && f.Context != "" && !slices.Contains(known, f.Context) {
		return nil, fmt.Errorf("--context %q: the kubeconfig has no such context (it has %s)", f.Context, strings.Join(known, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	c := &from
	c.Tell = func(error) {}
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
	if err := c.connect(cfg); err != nil {
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	return c, nil
}

func (c *Client) connect(cfg *rest.Config) error {
	cfg.QPS, cfg.Burst = requestsPerSecond, burst
	cfg.UserAgent = "celadon"
	cfg.WarningHandler = rest.NoWarnings{} // they are of versions, which vet tells of
	cfg.AcceptContentTypes, cfg.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // its Status
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &careful{next, c.silence, c.slowness} })
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	client.CheckRedirect = func(to *http.Request, _ []*http.Request) error {
		return fmt.Errorf("the server sends on to %s: an API server does not", to.URL.Host)
	}
	c.rest, err = rest.UnversionedRESTClientForConfigAndClient(cfg, client)
	return err
}

// String names the cluster for messages.
func (c *Client) String() string {
	if c.context == "" {
		return "the cluster of this pod"
	}
	return "the cluster of context " + c.context
}

// get asks for a path. A server that is busy is asked again, when it wants to be.
func (c *Client) get(ctx context.Context, path []string, parameters map[string]string) (io.ReadCloser, error) {
	req := c.rest.Get().AbsPath(path...)
	for name, value := range parameters {
		if value != "" {
			req.Param(name, value)
		}
	}
	return req.Stream(ctx)
}

// KubeVersion is the server's, as far as this build knows it; "" is the newest that
// it knows.
func (c *Client) KubeVersion(ctx context.Context) (string, error) {
	body, err := c.get(ctx, []string{"/version"}, nil)
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		c.Tell(fmt.Errorf("%s does not tell its version: taken for %s: %w", c, types.Version{Minor: types.Newest}, err))
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer body.Close()
	var told struct{ Major, Minor string }
	if err := json.NewDecoder(io.LimitReader(body, maxStatus)).Decode(&told); err != nil {
		return "", fmt.Errorf("%s: no answer of an API server: %w", c, err)
	}
	minor, err := strconv.Atoi(strings.TrimRight(told.Minor, "+")) // providers say 31+
	if err != nil || told.Major != "1" {
		return "", fmt.Errorf("%s: Kubernetes %q.%q: want --kube-version X.Y", c, told.Major, told.Minor)
	}
	known := types.Version{Minor: min(max(minor, types.Oldest), types.Newest)}
	if known.Minor != minor {
		c.Tell(fmt.Errorf("%s is of Kubernetes 1.%d, which this build does not know: taken for %s", c, minor, known))
	}
	return known.String(), nil
}
