package crds

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

type registry struct {
	*httptest.Server
	content map[string]string // by manifests/TAG, manifests/DIGEST, or blobs/DIGEST
	hostile func(w http.ResponseWriter, content string)
	login   string // the user and password that the token needs, or ""
}

func newRegistry(t *testing.T) *registry {
	r := &registry{content: map[string]string{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	name := strings.TrimPrefix(req.URL.Path, "/v2/a/")
	content, ok := r.content[name]
	switch {
	case name == "/token" && r.login != "":
		if user, password, _ := req.BasicAuth(); user+":"+password != r.login {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"token":"t"}`)
	case name == "/token":
		fmt.Fprint(w, `{"token":"t"}`)
	case req.Header.Get("Authorization") != "Bearer t":
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q,service=%q", r.URL+"/token", "r"))
		w.WriteHeader(http.StatusUnauthorized)
	case !ok:
		http.NotFound(w, req)
	case r.hostile != nil && strings.HasPrefix(name, "blobs/"):
		r.hostile(w, content)
	default:
		var m v1.Manifest
		_ = json.Unmarshal([]byte(content), &m)
		w.Header().Set("Content-Type", m.MediaType)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = io.WriteString(w, content)
	}
}

// push adds an artifact and returns its digest. change changes its manifest first, if it is not nil.
func (r *registry) push(tag, mediaType string, change func(*v1.Manifest), layers ...string) digest.Digest {
	m := v1.Manifest{MediaType: v1.MediaTypeImageManifest, Config: v1.DescriptorEmptyJSON}
	m.SchemaVersion = 2
	for _, layer := range layers {
		d := digest.FromString(layer)
		r.content["blobs/"+d.String()] = layer
		m.Layers = append(m.Layers, v1.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(layer))})
	}
	if change != nil {
		change(&m)
	}
	data, _ := json.Marshal(m)
	d := digest.FromBytes(data)
	r.content["manifests/"+tag], r.content["manifests/"+d.String()] = string(data), string(data)
	return d
}

func (r *registry) source(reference string) string {
	return "oci://" + strings.TrimPrefix(r.URL, "http://") + "/a" + reference
}

func TestRegistrySource(t *testing.T) {
	t.Parallel()
	server := newRegistry(t)
	signed := func(m *v1.Manifest) { m.Layers[1].MediaType = "application/vnd.cncf.helm.chart.provenance.v1.prov" }
	packed := chart(t, map[string]string{"app/Chart.yaml": "name: app", "app/crds/c.yaml": crd("cs", ""), "app/templates/x.yaml": crd("{{ x }}", "")})
	helm := server.push("chart", "application/vnd.cncf.helm.chart.content.v1.tar+gzip", signed, packed, "- not: [yaml")
	files := server.push("files", "application/yaml", nil, crd("as", ""), crd("bs", ""))
	r := newRun(t)
	if err := r.add(server.source(":chart"), server.source(":any@"+files.String())); err != nil || r.files() != "as bs celadon-crds.lock cs" {
		t.Fatalf("%v: %s", err, r.files())
	}
	for _, want := range []string{"/a:chart: 1 CRD at " + helm.String(), ": 2 CRDs at " + files.String()} {
		if !strings.Contains(r.out.String(), want+"\n") {
			t.Errorf("got %s, want %s", &r.out, want)
		}
	}
}

func TestRegistryLogin(t *testing.T) {
	server, other := newRegistry(t), newRegistry(t)
	for _, r := range []*registry{server, other} {
		r.login = "ann:secret"
		r.push("v1", "application/yaml", nil, crd("as", ""))
	}
	folder := t.TempDir()
	t.Setenv("DOCKER_CONFIG", folder)
	text := fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, server.Listener.Addr(), base64.StdEncoding.EncodeToString([]byte(server.login)))
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from   *registry
		logins bool
		ok     bool
	}{{server, true, true}, {server, false, false}, {other, true, false}} {
		r := newRun(t)
		r.o.Logins = c.logins
		if err := r.add(c.from.source(":v1")); (err == nil) != c.ok {
			t.Errorf("%+v: %v: %s", c, err, &r.out)
		}
	}
}

func TestHostileRegistry(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, _ string) {
		for block := make([]byte, 1<<20); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	redirect := func(to string) func(http.ResponseWriter, string) {
		return func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	}
	for name, c := range map[string]struct {
		change  func(*v1.Manifest)
		hostile func(w http.ResponseWriter, content string)
		source  string // the default is :v1
		want    string
	}{
		"another content":   {hostile: func(w http.ResponseWriter, s string) { fmt.Fprint(w, strings.Repeat("x", len(s))) }, want: "mismatched digest"},
		"a shorter content": {hostile: func(w http.ResponseWriter, s string) { fmt.Fprint(w, s[1:]) }, want: "mismatch Content-Length"},
		"an endless body":   {hostile: endless, want: "trailing"},
		"a huge layer":      {change: func(m *v1.Manifest) { m.Layers[0].Size = 1 << 40 }, want: "more than 64 MiB"},
		"a negative size":   {change: func(m *v1.Manifest) { m.Layers[0].Size = -1 }, want: "mismatch Content-Length"},
		"many layers":       {change: func(m *v1.Manifest) { m.Layers = make([]v1.Descriptor, 1000) }, want: "with 1000 layers"},
		"no digest":         {change: func(m *v1.Manifest) { m.Layers[0].Digest = "../../token" }, want: "invalid checksum digest format"},
		"a list":            {change: func(m *v1.Manifest) { m.MediaType, m.Layers = v1.MediaTypeImageIndex, nil }, want: "want the manifest of an artifact"},
		"a large manifest":  {change: func(m *v1.Manifest) { m.ArtifactType = strings.Repeat("x", maxManifest) }, want: "more than 4 MiB"},
		"a private address": {hostile: redirect("http://169.254.169.254/latest"), want: "a private address"},
		"a file":            {hostile: redirect("file:///etc/passwd"), want: "want an https URL"},
		"a loop":            {hostile: redirect("?"), want: "more than 5 redirects"},
		"no such tag":       {source: ":v2", want: "not found"},
		"no such digest":    {source: "@" + digest.FromString("x").String(), want: "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newRegistry(t)
			server.hostile = c.hostile
			server.push("v1", "application/yaml", c.change, crd("as", ""))
			r := newRun(t)
			r.o.control = func(_, address string, _ syscall.RawConn) error {
				if address == server.Listener.Addr().String() {
					return nil
				}
				return public(address)
			}
			source := server.source(":v1")
			if c.source != "" {
				source = server.source(c.source)
			}
			if err := r.add(source); err == nil || !strings.Contains(err.Error(), c.want) || r.files() != "" {
				t.Errorf("%v, want %q: %s", err, c.want, r.files())
			}
		})
	}
	server := newRegistry(t)
	r := newRun(t)
	r.o.Private = false
	if err := r.add(server.source(":v1")); !errors.Is(err, errPrivate) {
		t.Errorf("without --private-addresses: %v", err)
	}
}
