package crds

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/clustertest"
)

func crd(name, note string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s.example.com, creationTimestamp: null, annotations: {note: %q}}
spec:
  group: example.com
  names: {kind: A, plural: %s}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
status: {}
`, name, note, name)
}

func chart(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type testRun struct {
	*testing.T
	o   Options
	out bytes.Buffer
}

func newRun(t *testing.T) *testRun {
	return &testRun{T: t, o: Options{Dir: filepath.Join(t.TempDir(), "crds"), Private: true}}
}

func (r *testRun) streams() command.Streams {
	r.out.Reset()
	return command.Streams{Stdout: &r.out, Stderr: &r.out}
}

func (r *testRun) add(sources ...string) error {
	return Add(r.Context(), r.streams(), &r.o, sources)
}

func (r *testRun) files() string {
	entries, _ := os.ReadDir(r.o.Dir)
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".example.com.yaml"))
	}
	return strings.Join(names, " ")
}

func TestSources(t *testing.T) {
	content := crd("bs", "old")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/as.yaml":
			fmt.Fprint(w, crd("as", "")+"---\napiVersion: v1\nkind: ConfigMap\n")
		case "/bs.yaml":
			fmt.Fprint(w, content)
		case "/moved":
			http.Redirect(w, req, "/chart", http.StatusFound)
		case "/chart":
			fmt.Fprint(w, chart(t, map[string]string{"app/Chart.yaml": "name: app", "app/crds/c.yaml": crd("cs", ""), "app/templates/x.yaml": crd("{{ x }}", "")}))
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{"file.yaml": crd("ds", ""), "folder/crds/e.yaml": crd("es", ""), "folder/Chart.yaml": "name: x", "k/kustomization.yaml": "resources: [f.yaml]", "k/f.yaml": crd("fs", "")} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	sources := []string{server.URL + "/as.yaml", server.URL + "/bs.yaml", server.URL + "/moved", "file.yaml", "folder"}
	want := "as bs celadon-crds.lock cs ds es"
	if _, err := exec.LookPath("kubectl"); err == nil {
		sources, want = append(sources, "kustomize:k"), want+" fs"
	}
	r := newRun(t)
	if err := r.add(sources...); err != nil || r.files() != want {
		t.Fatalf("%v: %s\n%s", err, r.files(), &r.out)
	}
	text, err := os.ReadFile(filepath.Join(r.o.Dir, "as.example.com.yaml"))
	if err != nil || !strings.HasPrefix(string(text), "apiVersion: apiextensions.k8s.io/v1\n") || strings.Contains(string(text), "status") || strings.Contains(string(text), "creationTimestamp") {
		t.Errorf("%v: %s", err, text)
	}
	if err := List(r.streams(), &r.o); err != nil || !strings.Contains(r.out.String(), "/moved: 1 CRD\n  cs.example.com\n") {
		t.Errorf("list: %v: %s", err, &r.out)
	}
	if err := Sync(t.Context(), r.streams(), &r.o, nil); err != nil || r.out.Len() > 0 {
		t.Errorf("sync: %v: %s", err, &r.out)
	}
	content = crd("gs", "new")
	if err := Sync(t.Context(), r.streams(), &r.o, nil); err == nil || !strings.Contains(r.out.String(), "/bs.yaml: changed: 1 CRD") || r.files() != want {
		t.Errorf("sync of a changed source: %v: %s", err, &r.out)
	}
	r.o.Update = true
	if err := Sync(t.Context(), r.streams(), &r.o, nil); err != nil || r.files() != strings.Replace(want, " bs", "", 1)+" gs" && r.files() != strings.Replace(strings.Replace(want, " bs", "", 1), " fs", " fs gs", 1) {
		t.Errorf("sync --update: %v: %s", err, r.files())
	}
	if err := os.WriteFile(filepath.Join(r.o.Dir, "gs.example.com.yaml"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := List(r.streams(), &r.o); err == nil || !strings.Contains(r.out.String(), "the files differ") {
		t.Errorf("list of a changed file: %v: %s", err, &r.out)
	}
}

func TestGitSource(t *testing.T) {
	path, err := exec.Command("git", "--exec-path").Output()
	backend := filepath.Join(strings.TrimSpace(string(path)), "git-http-backend")
	if _, stat := os.Stat(backend); err != nil || stat != nil {
		t.Skip("git-http-backend is not installed")
	}
	root := t.TempDir()
	repository := filepath.Join(root, "r")
	script := `git init -q . && mkdir -p config x && printf '%s' "$CRD" > config/a.yaml && ln -s /etc/passwd config/link.yaml && echo 'a: [' > x/bad.yaml &&
		git add . && git -c user.name=a -c user.email=a@example.com commit -qm a && git tag v1 && git rm -q config/a.yaml && git -c user.name=a -c user.email=a@example.com commit -qm b`
	if err := os.Mkdir(repository, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = repository, append(os.Environ(), "CRD="+crd("as", ""))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := httptest.NewServer(&cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}})
	defer server.Close()
	r := newRun(t)
	if err := r.add("git+" + server.URL + "/r/.git?ref=v1//config"); err != nil || r.files() != "as celadon-crds.lock" || !strings.Contains(r.out.String(), "1 CRD at ") {
		t.Errorf("%v: %s: %s", err, r.files(), &r.out)
	}
	for source, want := range map[string]string{
		"git+" + server.URL + "/r/.git?ref=master//config":       "",
		"git+" + server.URL + "/r/.git?ref=none":                 "git: exit status 128",
		"git+" + server.URL + "/r/.git?ref=--upload-pack=x":      "want git+https://HOST/REPOSITORY?ref=REVISION",
		"git+" + server.URL + "/r/.git?ref=v1//../x":             "want a folder inside",
		"git+" + server.URL + "/r/.git?ref=v1//:(exclude)config": "want a folder inside",
		"git+file://" + repository + "?ref=v1":                   "",
	} {
		if err := r.add(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
}

func TestGoSource(t *testing.T) {
	proxy := t.TempDir()
	var packed bytes.Buffer
	writeZip(t, &packed, map[string]string{"example.com/m@v1.0.0/go.mod": "module example.com/m\n", "example.com/m@v1.0.0/config/a.yaml": crd("as", ""), "example.com/m@v1.0.0/b.yaml": crd("bs", "")})
	for name, text := range map[string]string{"v1.0.0.info": `{"Version":"v1.0.0"}`, "v1.0.0.mod": "module example.com/m\n", "v1.0.0.zip": packed.String()} {
		path := filepath.Join(proxy, "example.com/m/@v", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cache := t.TempDir()
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOMODCACHE", cache)
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+w", cache).Run() })
	r := newRun(t)
	if err := r.add("go:example.com/m@v1.0.0//config"); err != nil || r.files() != "as celadon-crds.lock" || !strings.Contains(r.out.String(), "at v1.0.0") {
		t.Errorf("%v: %s: %s", err, r.files(), &r.out)
	}
	for _, source := range []string{"go:example.com/m", "go:-x@v1", "go:example.com/m@v2.0.0", "go:example.com/m@v1.0.0//../.."} {
		if err := r.add(source); err == nil {
			t.Errorf("%s: no error", source)
		}
	}
}

func writeZip(t *testing.T, to io.Writer, files map[string]string) {
	t.Helper()
	w := zip.NewWriter(to)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestClusterSource(t *testing.T) {
	s := clustertest.Start(t)
	s.Define(t, []byte(crd("as", "")), 0, nil)
	r := newRun(t)
	r.o.Kubeconfig = s.Kubeconfig(t)
	if err := r.add("cluster:"); err != nil || r.files() != "as celadon-crds.lock" {
		t.Errorf("%v: %s", err, r.files())
	}
}

func TestHostileSources(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 1<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/loop":
			http.Redirect(w, req, "/loop", http.StatusFound)
		case "/file":
			http.Redirect(w, req, "file:///etc/passwd", http.StatusFound)
		case "/login":
			http.Redirect(w, req, "http://a:b@"+req.Host+"/as", http.StatusFound)
		case "/endless":
			for range 80 {
				if _, err := w.Write(zeros); err != nil {
					return
				}
			}
		case "/bomb":
			gz := gzip.NewWriter(w)
			tw := tar.NewWriter(gz)
			_ = tw.WriteHeader(&tar.Header{Name: "a.txt", Size: 130 << 20, Mode: 0o644})
			for range 130 {
				_, _ = tw.Write(zeros)
			}
			_ = tw.Close()
			_ = gz.Close()
		case "/missing":
			http.NotFound(w, req)
		case "/html":
			fmt.Fprint(w, "<html>sign in</html>")
		case "/name":
			fmt.Fprint(w, strings.Replace(crd("as", ""), "as.example.com", "../../x", 1))
		case "/hidden":
			fmt.Fprint(w, strings.Replace(crd("as", ""), "as.example.com", ".git", 1))
		case "/twice":
			fmt.Fprint(w, crd("as", "1")+"---\n"+crd("as", "2"))
		case "/broken":
			fmt.Fprint(w, "apiVersion: a: b: c")
		case "/as":
			fmt.Fprint(w, crd("as", ""))
		}
	}))
	defer server.Close()
	for _, c := range []struct {
		source  string
		private bool
		want    string
	}{
		{"/loop", true, "more than 5 redirects"},
		{"/file", true, "want an https URL"},
		{"/login", true, "credentials in a URL"},
		{"/endless", true, "more than 65536 KiB"},
		{"/bomb", true, "decompressed"},
		{"/missing", true, "404"},
		{"/html", true, "no CustomResourceDefinition"},
		{"/name", true, "slash"},
		{"/hidden", true, "begins with ."},
		{"/twice", true, "two different versions"},
		{"/broken", true, "no CustomResourceDefinition"},
		{"/as", false, "want https"},
		{"https://127.0.0.1:1/as", false, "a private address"},
		{"https://localhost:1/as", false, "a private address"},
		{"https://[::1]:1/as", false, "a private address"},
		{"https://[::ffff:127.0.0.1]:1/as", false, "a private address"},
		{"https://169.254.169.254/latest", false, "a private address"},
		{"https://10.0.0.1/as", false, "a private address"},
		{"https://100.64.0.1/as", false, "a private address"},
		{"https://0.0.0.0:1/as", false, "a private address"},
		{"git+https://127.0.0.1:1/a?ref=v1", false, "a private address"},
		{"git+http://example.com/a?ref=v1", false, "want https"},
		{"https://user:password@example.com/as", false, "credentials in a URL"},
		{"oci://example.com/chart", false, "want oci://REGISTRY/REPOSITORY:TAG"},
		{"oci://127.0.0.1:1/chart:v1", false, "a private address"},
		{"no/such/file", false, "no/such/file"},
	} {
		source := c.source
		if strings.HasPrefix(source, "/") {
			source = server.URL + source
		}
		r := newRun(t)
		r.o.Private = c.private
		if err := r.add(source); err == nil || !strings.Contains(err.Error(), c.want) || r.files() != "" {
			t.Errorf("%s: %v, want %q: %s", c.source, err, c.want, r.files())
		}
	}
	r := newRun(t)
	if err := r.add(server.URL + "/as"); err != nil {
		t.Error(err)
	}
	if err := r.add(server.URL + "/as?again"); err == nil || !strings.Contains(err.Error(), "a server can have only one") {
		t.Errorf("the same CRD of two sources: %v", err)
	}
}

func TestHostileLock(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"sources":[{"source":"a","crds":["../../x"]}]}`, `{"sources":[{"other":1}]}`, `{`, strings.Repeat(" ", maxLock+1)} {
		r := newRun(t)
		if err := os.MkdirAll(r.o.Dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.o.Dir, LockName), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := Sync(t.Context(), r.streams(), &r.o, nil); err == nil || !strings.Contains(err.Error(), LockName) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}
