package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// writeImage writes an OCI layout, which any tool can push. The image contains the binary and licenses from
// the release archive, Mozilla's root certificates for TLS connections, and /tmp; it has no base image.
// No daemon is needed, and the same archives produce the same bytes.
func writeImage(dist, out string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range []string{"amd64", "arm64"} {
		archives, err := filepath.Glob(filepath.Join(dist, "celadon_*_linux_"+arch+".tar.gz"))
		if err != nil {
			return err
		}
		if len(archives) != 1 {
			return fmt.Errorf("%s: %d archives for linux and %s: want 1", dist, len(archives), arch)
		}
		files, err := unpack(archives[0])
		if err != nil {
			return fmt.Errorf("%s: %w", archives[0], err)
		}
		image, err := imageOf(files, arch)
		if err != nil {
			return fmt.Errorf("%s: %w", archives[0], err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
		})
	}
	_, err := layout.Write(out, index)
	return err
}

func imageOf(files map[string][]byte, arch string) (v1.Image, error) {
	info, err := buildinfo.Read(bytes.NewReader(files["celadon"]))
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	date, err := time.Parse(time.RFC3339, settings["vcs.time"])
	if err != nil {
		return nil, fmt.Errorf("built outside of git: %w", err)
	}
	authorities, err := layer(date, entry{"etc/ssl/certs/ca-certificates.crt", 0o644, authorities()})
	if err != nil {
		return nil, err
	}
	command, err := layer(date,
		entry{"tmp/", 0o1777, nil}, // for reports that are buffered until they are complete
		entry{"celadon", 0o755, files["celadon"]},
		entry{"licenses/LICENSE", 0o644, files["LICENSE"]},
		entry{"licenses/NOTICES.txt", 0o644, files["NOTICES.txt"]})
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, authorities, command); err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, configOf(image, info, arch, settings["vcs.revision"], date))
}

func configOf(image v1.Image, info *debug.BuildInfo, arch, revision string, date time.Time) *v1.ConfigFile {
	config := &v1.ConfigFile{OS: "linux", Architecture: arch, Created: v1.Time{Time: date}}
	if layers, err := image.ConfigFile(); err == nil {
		config.RootFS = layers.RootFS
	}
	config.Config = v1.Config{
		Entrypoint: []string{"/celadon"},
		User:       "65532:65532",
		WorkingDir: "/src", // where CI mounts the files to check
		Env:        []string{"PATH=/"},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "celadon",
			"org.opencontainers.image.source":   "https://" + root,
			"org.opencontainers.image.version":  info.Main.Version,
			"org.opencontainers.image.revision": revision,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return config
}

// authorities omits roots with constraints, because PEM cannot express them.
func authorities() []byte {
	var out bytes.Buffer
	for authority := range bundle.Roots() {
		if authority.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate})
		}
	}
	return out.Bytes()
}

// An entry is a file, or a folder if its name ends in a slash.
type entry struct {
	name string
	mode int64
	data []byte
}

// A layer also gets the parent folders of its entries.
func layer(date time.Time, entries ...entry) (v1.Layer, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	made := map[string]bool{".": true}
	for _, e := range entries {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: date, Format: tar.FormatPAX}
		if strings.HasSuffix(e.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := errors.Join(folders(w, date, path.Dir(path.Clean(e.name)), made), w.WriteHeader(header)); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
}

func folders(w *tar.Writer, date time.Time, name string, created map[string]bool) error {
	if created[name] {
		return nil
	}
	created[name] = true
	return errors.Join(folders(w, date, path.Dir(name), created), w.WriteHeader(&tar.Header{
		Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: date, Format: tar.FormatPAX,
	}))
}

func unpack(archive string) (map[string][]byte, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(zipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if files[path.Clean(header.Name)], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
}
