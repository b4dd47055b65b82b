package serve

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func crdOf(t testing.TB, kind, limit string) string {
	text := read(t, exampleD)
	text = strings.ReplaceAll(text, "CronTab", kind)
	text = strings.ReplaceAll(text, "crontab", strings.ToLower(kind))
	return strings.ReplaceAll(text, "self.replicas <= self.maxReplicas", "self.replicas <= "+limit)
}

func replicas(kind, n string) string {
	return strings.ReplaceAll(cronTab(`{"schedule":"0 3 * * *","image":"a","maxReplicas":99,"replicas":`+n+`}`), "CronTab", kind)
}

func replace(t testing.TB, path, text string) {
	t.Helper()
	whole := filepath.Join(t.TempDir(), "file")
	write(t, whole, text)
	if err := os.Rename(whole, path); err != nil {
		t.Fatal(err)
	}
}

func (s *serving) reloads() int { return len(s.log.records("CRDs reloaded")) }

func TestServeFolderChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := func(name string, files map[string]string) {
		for file, text := range files {
			path := filepath.Join(dir, name, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, path, text)
		}
		link(t, name, filepath.Join(dir, "link"))
		if err := os.Rename(filepath.Join(dir, "link"), filepath.Join(dir, "crds")); err != nil {
			t.Fatal(err)
		}
	}
	folder("1", map[string]string{"a.yaml": crdOf(t, "Alpha", "10"), "b.yaml": crdOf(t, "Beta", "10")})
	s := startServe(t, "--crd", filepath.Join(dir, "crds"), "--plain-http", "--remove-after", "0s")
	folder("2", map[string]string{"a.yaml": crdOf(t, "Alpha", "20"), "more/c.yaml": crdOf(t, "Gamma", "10")})
	s.await("the change is seen", func() bool { return s.reloads() == 1 })
	record := s.log.records("CRDs reloaded")[0]
	if got := record["added"]; len(got.([]any)) != 1 || got.([]any)[0] != "gammas.stable.example.com" {
		t.Errorf("added %v", got)
	}
	if got := record["removed"]; len(got.([]any)) != 1 || got.([]any)[0] != "betas.stable.example.com" {
		t.Errorf("removed %v", got)
	}
	if r := s.review("/validate", replicas("Alpha", "15")); !r.Allowed || len(r.Warnings) > 0 {
		t.Errorf("alpha: %+v", r)
	}
	if r := s.review("/validate", replicas("Gamma", "15")); r.Allowed {
		t.Errorf("gamma: %+v", r)
	}
	// A folder that was created later is watched as well.
	replace(t, filepath.Join(dir, "2/more/c.yaml"), crdOf(t, "Gamma", "20"))
	s.await("the change below is seen", func() bool { return s.reloads() == 2 })
	if r := s.review("/validate", replicas("Gamma", "15")); !r.Allowed {
		t.Errorf("gamma: %+v", r)
	}
}

func TestServeBadChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), crdOf(t, "Alpha", "10"))
	write(t, filepath.Join(dir, "b.yaml"), crdOf(t, "Beta", "10"))
	s := startServe(t, "--crd", dir, "--plain-http", "--no-vet")
	for i, change := range []struct {
		name, text, want string
	}{
		{"a.yaml", crdOf(t, "Alpha", "self.replica"), "undefined field 'replica'"},
		{"a.yaml", "kind: CustomResourceDefinition\napiVersion: [", "a.yaml"},
		{"a.yaml", "", "a.yaml: is empty"},
		{"a.yaml", crdOf(t, "Beta", "20"), "duplicate"},
		{"a.yaml", strings.Replace(crdOf(t, "Beta", "20"), "name: betas", "name: alphas", 1), "is already that of CRD betas"},
	} {
		replace(t, filepath.Join(dir, change.name), change.text)
		s.await("the change is seen", func() bool { return s.reloads() == i+1 })
		problems := s.log.records("CRD not changed")
		if text := problems[len(problems)-1]["error"].(string); !strings.Contains(text, change.want) {
			t.Errorf("change %d: %s, want %q", i, text, change.want)
		}
		for _, kind := range []string{"Alpha", "Beta"} {
			if r := s.review("/validate", replicas(kind, "15")); r.Allowed {
				t.Errorf("change %d: %s: %+v", i, kind, r)
			}
		}
	}
	// An empty folder is expected to be filled again.
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.await("the empty folder is seen", func() bool {
		return strings.Contains(s.log.String(), "no CustomResourceDefinition in "+dir)
	})
	if _, text := s.get("/metrics"); !strings.Contains(text, "celadon_crd_problems 1") {
		t.Error("the metrics do not count it")
	}
	if r := s.review("/validate", replicas("Beta", "15")); r.Allowed {
		t.Errorf("an empty folder: %+v", r)
	}
}

// TestServeMountedConfigMap replaces files as the kubelet does: by a link to a folder that contains
// all of them.
func TestServeMountedConfigMap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	version := func(name, limit string) {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "a.yaml"), crdOf(t, "Alpha", limit))
		write(t, filepath.Join(folder, "b.yaml"), crdOf(t, "Beta", limit))
		swapData(t, dir, name)
	}
	version("..2026_01_01", "10")
	link(t, "..data/a.yaml", filepath.Join(dir, "a.yaml"))
	link(t, "..data/b.yaml", filepath.Join(dir, "b.yaml"))
	linked := filepath.Join(t.TempDir(), "crds") // and through another link
	link(t, dir, linked)
	s := startServe(t, "--crd", dir, "--plain-http")
	other := startServe(t, "--crd", linked, "--plain-http")
	if r := s.review("/validate", replicas("Alpha", "15")); r.Allowed {
		t.Errorf("before: %+v", r)
	}
	version("..2026_01_02", "20")
	if err := os.RemoveAll(filepath.Join(dir, "..2026_01_01")); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*serving{s, other} {
		s.await("the change is seen", func() bool { return s.reloads() == 1 })
		for _, kind := range []string{"Alpha", "Beta"} {
			if r := s.review("/validate", replicas(kind, "15")); !r.Allowed {
				t.Errorf("after: %s: %+v", kind, r)
			}
		}
	}
	if problems := s.log.records("CRD not changed"); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
}

// swapData makes a version of a mount the current one, as the kubelet does.
func swapData(t testing.TB, dir, version string) {
	t.Helper()
	link(t, version, filepath.Join(dir, "..data_tmp"))
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func TestServeSingleFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "crd.yaml")
	write(t, path, crdOf(t, "Alpha", "10"))
	s := startServe(t, "--crd", path, "--plain-http")
	write(t, filepath.Join(dir, "other.yaml"), "not ours: [")
	replace(t, path, crdOf(t, "Alpha", "20"))
	s.await("the change is seen", func() bool { return s.reloads() == 1 })
	if r := s.review("/validate", replicas("Alpha", "15")); !r.Allowed {
		t.Errorf("got %+v", r)
	}
}

func served(t testing.TB, s *serving) string {
	t.Helper()
	conn, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestServeCertificateChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeCertificate(t, dir, "first")
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	s := startServe(t, "--crd", exampleD, "--tls-cert", cert, "--tls-key", key)
	if got := served(t, s); got != "first" {
		t.Errorf("served %s", got)
	}
	replace(t, key, "half a key")
	s.await("the bad key is seen", func() bool { return len(s.log.records("certificate not changed")) == 1 })
	if got := served(t, s); got != "first" {
		t.Errorf("served %s", got)
	}
	writeCertificate(t, dir, "second")
	s.await("the new one is seen", func() bool { return len(s.log.records("certificate changed")) == 1 })
	if got := served(t, s); got != "second" {
		t.Errorf("served %s", got)
	}
}

func TestServeMountedSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	version := func(name string) {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		writeCertificate(t, folder, name)
		swapData(t, dir, name)
	}
	version("..first")
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	link(t, "..data/tls.crt", cert)
	link(t, "..data/tls.key", key)
	s := startServe(t, "--crd", exampleD, "--tls-cert", cert, "--tls-key", key)
	if got := served(t, s); got != "..first" {
		t.Errorf("served %s", got)
	}
	version("..second")
	if err := os.RemoveAll(filepath.Join(dir, "..first")); err != nil {
		t.Fatal(err)
	}
	s.await("the new one is seen", func() bool { return len(s.log.records("certificate changed")) == 1 })
	if got := served(t, s); got != "..second" {
		t.Errorf("served %s", got)
	}
	if problems := s.log.records("certificate not changed"); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
}
