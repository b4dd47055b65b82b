package crds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/render"
)

// How it works. A source is text:
//
//	a file, or an archive such as a packaged chart    https://host/crds.yaml
//	the YAML files of a git revision, below a folder  git+https://host/repository?ref=v1//config
//	the YAML files of a Go module, below a folder     go:example.com/module@v1//config
//	the output of kustomize build                     kustomize:PATH
//	the CRDs of a cluster                             cluster:CONTEXT
//	a file, a folder, or an archive                   PATH
//
// Programs (git, go, and kustomize) run only for sources that need them. Nothing that they or a server send is written to
// the disk before it was decoded as a CRD.

// opened is a source that can be read.
type opened struct {
	documents batch.Source
	version   string       // of the content, or ""
	failed    func() error // after the documents were read, or nil
}

// open fetches a source.
func (o *Options) open(ctx context.Context, source string) (*opened, error) {
	kind, rest, _ := strings.Cut(source, ":")
	switch kind {
	case "http", "https":
		data, err := download(ctx, source, o.Private)
		if err != nil {
			return nil, err
		}
		return fromBytes(source, data)
	case "git+https", "git+http":
		return o.git(ctx, source)
	case "go":
		return goModule(ctx, rest)
	case "kustomize":
		out, err := render.Kustomize(ctx, rest)
		if err != nil {
			return nil, err
		}
		return fromTexts([]input.Text{{File: source, Data: out.Data}}), nil
	case "cluster":
		c, err := (&cluster.Flags{On: true, All: true, Context: rest, Kubeconfig: o.Kubeconfig}).Open()
		if err != nil {
			return nil, err
		}
		all, failed := c.CRDs(ctx, nil)
		return &opened{documents: all, failed: failed}, nil
	case "oci", "git+ssh", "ssh":
		return nil, fmt.Errorf("%s: want an https URL, git+https, go, kustomize, cluster, or a path", kind)
	}
	return fromPath(source, ""), nil
}

func fromPath(path, version string) *opened {
	selected := input.Selection{Regular: true}
	return &opened{version: version, documents: func(wait func(), yield func(input.Chunk) bool) { selected.Scan(nil, []string{path}, wait, yield) }}
}

func fromTexts(texts []input.Text) *opened {
	return &opened{documents: func(_ func(), yield func(input.Chunk) bool) {
		for _, text := range texts {
			more := true
			input.SplitText(text.File, text.Data, func(c input.Chunk) bool {
				more = yield(c)
				return more
			})
			if !more {
				return
			}
		}
	}}
}

// fromBytes reads an archive if the data is compressed, and YAML otherwise.
func fromBytes(name string, data []byte) (*opened, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return fromTexts([]input.Text{{File: name, Data: data}}), nil
	}
	texts, err := input.Archive(name, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return fromTexts(texts), nil
}

// subfolder splits NAME//FOLDER. The folder stays inside.
func subfolder(text string) (name, folder string, err error) {
	name, folder, _ = strings.Cut(text, "//")
	if folder == "" {
		folder = "."
	}
	if !filepath.IsLocal(folder) || strings.HasPrefix(folder, "-") || strings.ContainsAny(folder, ":\\") {
		return "", "", fmt.Errorf("%q: want a folder inside of the source", folder)
	}
	return name, path.Clean(folder), nil
}

var revision = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// git reads a revision of a repository into a temporary folder, without its files, and then the files through an archive.
func (o *Options) git(ctx context.Context, source string) (*opened, error) {
	address, rest, _ := strings.Cut(strings.TrimPrefix(source, "git+"), "?ref=")
	rev, folder, err := subfolder(rest)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err == nil {
		err = checkURL(u, o.Private)
	}
	if err == nil && !revision.MatchString(rev) {
		err = errors.New("want git+https://HOST/REPOSITORY?ref=REVISION, and then //FOLDER if only a part is of interest")
	}
	if err == nil && !o.Private {
		err = publicHost(ctx, u.Hostname())
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "celadon-git-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	git := func(args ...string) ([]byte, error) {
		safe := []string{"-C", dir, "-c", "http.followRedirects=false", "-c", "protocol.allow=never", "-c", "protocol." + u.Scheme + ".allow=always", "-c", "core.hooksPath=/dev/null"}
		return run(ctx, []string{"GIT_TERMINAL_PROMPT=0", "GIT_DIR=" + dir}, maxDownload, "git", append(safe, args...)...)
	}
	if _, err := git("init", "-q", "--bare", dir); err != nil {
		return nil, err
	}
	if _, err := git("fetch", "-q", "--depth", "1", "--no-tags", "--no-recurse-submodules", address, rev); err != nil {
		return nil, err
	}
	commit, err := git("rev-parse", "FETCH_HEAD^{commit}")
	if err != nil {
		return nil, err
	}
	data, err := git("archive", "--format=tar", "FETCH_HEAD", "--", folder)
	if err != nil {
		return nil, err
	}
	texts, err := input.Archive(source, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	all := fromTexts(texts)
	all.version = strings.TrimSpace(string(commit))
	return all, nil
}

// publicHost returns an error if a host has an address in a private network.
func publicHost(ctx context.Context, host string) error {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, ip := range addresses {
		if err == nil {
			err = public(net.JoinHostPort(ip.String(), "443"))
		}
	}
	return err
}

var moduleVersion = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~/-]*@[A-Za-z0-9][A-Za-z0-9.+_-]*$`)

// goModule reads the files of a Go module from the module cache, into which go downloads it.
func goModule(ctx context.Context, text string) (*opened, error) {
	module, folder, err := subfolder(text)
	if err == nil && !moduleVersion.MatchString(module) {
		err = errors.New("want go:MODULE@VERSION, and then //FOLDER if only a part is of interest")
	}
	if err != nil {
		return nil, err
	}
	out, err := run(ctx, []string{"GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOWORK=off"}, 1<<20, "go", "mod", "download", "-json", module)
	var found struct{ Dir, Version, Error string }
	if bad := json.Unmarshal(out, &found); bad == nil && found.Error != "" {
		err = errors.New(found.Error)
	}
	if err == nil && found.Dir == "" {
		err = errors.New("go does not name the folder of the module")
	}
	if err != nil {
		return nil, err
	}
	return fromPath(filepath.Join(found.Dir, filepath.FromSlash(folder)), found.Version), nil
}

// run returns the output of a program, which is started outside of the working directory, so that no file there configures
// it.
func run(ctx context.Context, env []string, limit int64, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return render.Run(ctx, render.Program{Dir: os.TempDir(), Env: env, Limit: limit}, exec.CommandContext(ctx, name, args...))
}

// Limits of a download.
const (
	maxDownload  = 64 << 20
	maxRedirects = 5
	patience     = 2 * time.Minute
)

var errPrivate = errors.New("a private address: pass --private-addresses if the source is in your network")

// shared is the address range of carriers, which netip does not count as private.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// public returns an error if an address does not belong to the public internet.
func public(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || shared.Contains(ip) {
		return fmt.Errorf("%s: %w", ip, errPrivate)
	}
	return nil
}

// client returns an HTTP client for untrusted servers. It sends no credentials and, unless private is set, connects only to
// public addresses and with TLS.
func client(private bool) *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return public(address) }
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		TLSHandshakeTimeout: 30 * time.Second, ResponseHeaderTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{Transport: transport, Timeout: patience, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return checkURL(to.URL, private)
	}}
}

func checkURL(u *url.URL, private bool) error {
	switch {
	case u.User != nil:
		return errors.New("credentials in a URL would be written to the lock file")
	case u.Scheme == "http" && !private:
		return errors.New("want https (http only with --private-addresses)")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fmt.Errorf("%q: want an https URL", u.Redacted())
	}
	return nil
}

// download returns the content of a URL.
func download(ctx context.Context, address string, private bool) ([]byte, error) {
	u, err := url.Parse(address)
	if err == nil {
		err = checkURL(u, private)
	}
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "celadon/"+command.Version())
	resp, err := client(private).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
		return nil, fmt.Errorf("the server responds with %s", resp.Status)
	}
	return input.ReadAll(resp.Body, maxDownload)
}
