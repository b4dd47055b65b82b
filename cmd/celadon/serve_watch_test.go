package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// crdOf is the example's CRD under another kind, with its replicas limited.
func crdOf(t testing.TB, kind, limit string) string {
	text := read(t, exampleD)
	text = strings.ReplaceAll(text, "CronTab", kind)
	text = strings.ReplaceAll(text, "crontab", strings.ToLower(kind))
	return strings.ReplaceAll(text, "self.replicas <= self.maxReplicas", "self.replicas <= "+limit)
}

// replicas is a review of a kind that only the limit of crdOf can refuse.
func replicas(kind, n string) string {
	return strings.ReplaceAll(cronTab(`{"schedule":"0 3 * * *","image":"a","maxReplicas":99,"replicas":`+n+`}`), "CronTab", kind)
}

func (s *serving) reloads() int { return len(s.log.records("CRDs read again")) }

// TestServeFolderChanges swaps several files at once: no request may see one
// without the others, and the log tells of one change.
func TestServeFolderChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), crdOf(t, "Alpha", "10"))
	write(t, filepath.Join(dir, "b.yaml"), crdOf(t, "Beta", "10"))
	s := startServe(t, "--crds", dir, "--plain-http")
	write(t, filepath.Join(dir, "a.yaml"), crdOf(t, "Alpha", "20"))
	if err := os.Remove(filepath.Join(dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "more"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "more", "c.yaml"), crdOf(t, "Gamma", "10"))
	s.await("the change is seen", func() bool { return s.reloads() == 1 })
	record := s.log.records("CRDs read again")[0]
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
	// A folder that came later is watched, too.
	write(t, filepath.Join(dir, "more", "c.yaml"), crdOf(t, "Gamma", "20"))
	s.await("the change below is seen", func() bool { return s.reloads() == 2 })
	if r := s.review("/validate", replicas("Gamma", "15")); !r.Allowed {
		t.Errorf("gamma: %+v", r)
	}
}

// TestServeBadChange: what is broken changes nothing, and is said.
func TestServeBadChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), crdOf(t, "Alpha", "10"))
	write(t, filepath.Join(dir, "b.yaml"), crdOf(t, "Beta", "10"))
	s := startServe(t, "--crds", dir, "--plain-http")
	for i, change := range []struct {
		name, text, want string
	}{
		{"a.yaml", crdOf(t, "Alpha", "self.replica"), "undefined field 'replica'"},
		{"a.yaml", "kind: CustomResourceDefinition\napiVersion: [", "a.yaml"},
		{"a.yaml", crdOf(t, "Beta", "20"), "given twice"},
		{"a.yaml", strings.Replace(crdOf(t, "Beta", "20"), "name: betas", "name: alphas", 1), "is already that of CRD betas"},
	} {
		write(t, filepath.Join(dir, change.name), change.text)
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
	// An empty folder is one that will be filled again.
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.await("the change is seen", func() bool { return s.reloads() == 5 })
	if r := s.review("/validate", replicas("Beta", "15")); r.Allowed {
		t.Errorf("an empty folder: %+v", r)
	}
	if _, text := s.get("/metrics"); !strings.Contains(text, "celadon_crd_problems 1") {
		t.Error("the metrics do not tell")
	}
}

// TestServeMountedConfigMap swaps files as the kubelet does: by a link to a
// folder that has all of them.
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
		link(t, name, filepath.Join(dir, "..data_tmp"))
		if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	version("..2026_01_01", "10")
	link(t, "..data/a.yaml", filepath.Join(dir, "a.yaml"))
	link(t, "..data/b.yaml", filepath.Join(dir, "b.yaml"))
	linked := filepath.Join(t.TempDir(), "crds") // and by a link of our own
	link(t, dir, linked)
	s := startServe(t, "--crds", dir, "--plain-http")
	other := startServe(t, "--crds", linked, "--plain-http")
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

func link(t testing.TB, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// TestServeSingleFile watches a file that an editor replaces.
func TestServeSingleFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "crd.yaml")
	write(t, path, crdOf(t, "Alpha", "10"))
	s := startServe(t, "--crds", path, "--plain-http")
	write(t, filepath.Join(dir, "other.yaml"), "not ours: [")
	write(t, path+".tmp", crdOf(t, "Alpha", "20"))
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
	s.await("the change is seen", func() bool { return s.reloads() == 1 })
	if r := s.review("/validate", replicas("Alpha", "15")); !r.Allowed {
		t.Errorf("got %+v", r)
	}
}

// TestServeCertificateChanges: new connections get the new certificate, and one
// whose key does not fit changes nothing.
func TestServeCertificateChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeCertificate(t, dir, "first")
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	s := startServe(t, "--crds", exampleD, "--tls-cert", cert, "--tls-key", key)
	served := func() *x509.Certificate {
		conn, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0]
	}
	if got := served().Subject.CommonName; got != "first" {
		t.Errorf("served %s", got)
	}
	write(t, key, "half a key")
	s.await("the bad key is seen", func() bool { return len(s.log.records("certificate not changed")) == 1 })
	if got := served().Subject.CommonName; got != "first" {
		t.Errorf("served %s", got)
	}
	writeCertificate(t, dir, "second")
	s.await("the new one is seen", func() bool { return len(s.log.records("certificate changed")) == 1 })
	if got := served().Subject.CommonName; got != "second" {
		t.Errorf("served %s", got)
	}
}
