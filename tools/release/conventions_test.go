package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

type releaser struct {
	Builds []struct {
		Main         string   `yaml:"main"`
		GOOS, GOARCH []string `yaml:",flow"`
	} `yaml:"builds"`
	Archives []struct {
		Name      string   `yaml:"name_template"`
		Formats   []string `yaml:"formats"`
		Overrides []struct {
			GOOS    string   `yaml:"goos"`
			Formats []string `yaml:"formats"`
		} `yaml:"format_overrides"`
		Files []struct {
			Src string `yaml:"src"`
		} `yaml:"files"`
	} `yaml:"archives"`
	Checksum struct {
		Name string `yaml:"name_template"`
	} `yaml:"checksum"`
	Krews []struct {
		Name        string `yaml:"name"`
		Short       string `yaml:"short_description"`
		Description string `yaml:"description"`
	} `yaml:"krews"`
}

func readReleaser(t *testing.T) *releaser {
	t.Helper()
	config := &releaser{}
	if err := yaml.Unmarshal(read(t, "../../.goreleaser.yaml"), config); err != nil {
		t.Fatal(err)
	}
	if len(config.Builds) != 1 || len(config.Archives) != 1 || len(config.Krews) != 1 {
		t.Fatalf("got %+v", config)
	}
	return config
}

// Each field must be in to.
func strict(t *testing.T, data []byte, to any) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(to); err != nil {
		t.Fatal(err)
	}
}

func newest(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^## (v\S+)`).FindSubmatch(read(t, "../../CHANGELOG.md"))
	if found == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	return string(found[1])
}

func archive(t *testing.T, name, version, goos, arch, format string) string {
	t.Helper()
	trim := func(v string) string { return strings.TrimPrefix(v, "v") }
	parsed, err := template.New("").Funcs(template.FuncMap{"trimV": trim}).Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := parsed.Execute(&out, map[string]string{"ProjectName": "celadon", "Version": version, "Os": goos, "OS": goos, "Arch": arch, "Format": format}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// goreleaser itself checks the configuration in make -C tools/release check.
func TestReleaseConfig(t *testing.T) {
	t.Parallel()
	config := readReleaser(t)
	if len(config.Builds[0].GOOS) != 3 || len(config.Builds[0].GOARCH) != 2 {
		t.Fatalf("got %+v", config)
	}
	for _, f := range config.Archives[0].Files {
		if strings.HasPrefix(f.Src, "bin/release/") {
			continue // make -C tools/release files makes it
		}
		if found, err := filepath.Glob(filepath.Join("../..", strings.ReplaceAll(f.Src, "**", "*"))); err != nil || len(found) == 0 {
			t.Errorf("%s: there is none: %v", f.Src, err)
		}
	}
	krew := config.Krews[0]
	if krew.Name != "celadon" || len(krew.Short) > 50 || strings.HasSuffix(krew.Short, ".") || krew.Description == "" {
		t.Errorf("krew search shows 50 characters without a full stop: %+v", krew)
	}
}

func TestAqua(t *testing.T) {
	t.Parallel()
	var registry struct {
		Packages []struct {
			Type        string
			Owner       string `yaml:"repo_owner"`
			Name        string `yaml:"repo_name"`
			Description string
			Asset       string
			Format      string
			Overrides   []struct{ GOOS, Format string }
			Checksum    struct{ Type, Asset, Algorithm string }
			Attestation struct {
				Workflow string `yaml:"signer_workflow"`
			} `yaml:"github_artifact_attestations"`
		}
	}
	strict(t, read(t, "aqua/registry.yaml"), &registry)
	p, config := registry.Packages[0], readReleaser(t)
	for _, goos := range config.Builds[0].GOOS {
		for _, arch := range config.Builds[0].GOARCH {
			want, format := config.Archives[0].Formats[0], p.Format
			for _, o := range config.Archives[0].Overrides {
				if o.GOOS == goos {
					want = o.Formats[0]
				}
			}
			for _, o := range p.Overrides {
				if o.GOOS == goos {
					format = o.Format
				}
			}
			name := archive(t, config.Archives[0].Name, "0.1.0", goos, arch, "") + "." + want
			if got := archive(t, p.Asset, "v0.1.0", goos, arch, format); got != name {
				t.Errorf("aqua downloads %s, the release has %s", got, name)
			}
		}
	}
	workflow := strings.TrimPrefix(p.Attestation.Workflow, p.Owner+"/"+p.Name+"/")
	if !bytes.Contains(read(t, "../..", workflow), []byte("attest")) || p.Checksum.Asset != config.Checksum.Name || "github.com/"+p.Owner+"/"+p.Name != root {
		t.Errorf("got %+v", p)
	}
}

// The plugin must not have other fields, such as config_file_name.
func TestMegaLinter(t *testing.T) {
	t.Parallel()
	var plugin struct {
		ID         string   `yaml:"descriptor_id"`
		Type       string   `yaml:"descriptor_type"`
		Flavors    []string `yaml:"descriptor_flavors"`
		Extensions []string `yaml:"file_extensions"`
		Linters    []struct {
			Linter   string `yaml:"linter_name"`
			Name     string
			URL      string   `yaml:"linter_url"`
			Repo     string   `yaml:"linter_repo"`
			Text     string   `yaml:"linter_text"`
			Active   []string `yaml:"active_only_if_file_found"`
			Mode     string   `yaml:"cli_lint_mode"`
			Modes    []string `yaml:"supported_cli_lint_modes"`
			Program  string   `yaml:"cli_executable"`
			Args     []string `yaml:"cli_lint_extra_args"`
			Help     string   `yaml:"cli_help_arg_name"`
			Version  string   `yaml:"cli_version_arg_name"`
			Examples []string
			Install  struct{ Dockerfile []string }
		}
	}
	strict(t, read(t, "mega-linter-plugin-celadon/celadon.megalinter-descriptor.yml"), &plugin)
	l, version, config := plugin.Linters[0], newest(t), readReleaser(t)
	url := "https://" + root + "/releases/download/" + version + "/" +
		archive(t, config.Archives[0].Name, version[1:], "linux", "amd64", "") + "." + config.Archives[0].Formats[0] + " "
	if len(l.Install.Dockerfile) != 1 || !strings.Contains(l.Install.Dockerfile[0], url) || !strings.HasPrefix(l.Install.Dockerfile[0], "RUN ") {
		t.Errorf("got %q, want %s", l.Install.Dockerfile, url)
	}
	if !slices.Equal(append([]string{l.Program}, l.Args...), strings.Fields(l.Examples[0])) || l.Mode != "project" {
		t.Errorf("got %+v", l)
	}
}

func TestRenovate(t *testing.T) {
	t.Parallel()
	var preset struct {
		Managers []struct {
			Files      []string `json:"managerFilePatterns"`
			Strings    []string `json:"matchStrings"`
			Name       string   `json:"depNameTemplate"`
			Datasource string   `json:"datasourceTemplate"`
		} `json:"customManagers"`
	}
	if err := json.Unmarshal(read(t, "renovate.json"), &preset); err != nil {
		t.Fatal(err)
	}
	find := func(file, text string) string {
		var found []string
		for _, m := range preset.Managers {
			matches := func(pattern string) bool { return regexp.MustCompile(strings.Trim(pattern, "/")).MatchString(file) }
			if !slices.ContainsFunc(m.Files, matches) {
				continue
			}
			for _, pattern := range m.Strings {
				re := regexp.MustCompile(pattern)
				for _, match := range re.FindAllStringSubmatch(text, -1) {
					name := m.Name
					if i := re.SubexpIndex("depName"); i > 0 {
						name = match[i]
					}
					found = append(found, m.Datasource+" "+name+" "+match[re.SubexpIndex("currentValue")])
				}
			}
		}
		return strings.Join(found, "; ")
	}
	sources := "crds:\n  sources: [oci://r.example.com:5000/charts/app:1.2.3, 'git+https://github.com/a/b?ref=v1.2.3//config/crd', \"go:example.com/m@v1.2.3//x\", charts/app-1.2.3.tgz]\n"
	install := "$(call go-install-tool,$(CELADON)," + root + "/cmd/celadon,v0.1.0)\n"
	for _, c := range [][3]string{
		{"a/.celadon.yaml", sources, "docker r.example.com:5000/charts/app 1.2.3; git-tags https://github.com/a/b v1.2.3; go example.com/m v1.2.3"},
		{"other.yaml", sources, ""},
		{"Makefile", install, "github-releases celadon-cel/celadon v0.1.0"},
		{".github/workflows/a.yml", "- run: go install " + root + "/cmd/celadon@v0.1.0\n", "github-releases celadon-cel/celadon v0.1.0"},
		{"main.go", install, ""},
	} {
		if got := find(c[0], c[1]); got != c[2] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[2])
		}
	}
}

// The variant with git must run like the image of a release.
func TestGitImage(t *testing.T) {
	t.Parallel()
	text, code := string(read(t, "Dockerfile.git")), string(read(t, "image.go"))
	for line, same := range map[string]string{
		"COPY --from=celadon /celadon /celadon":   `entry{"celadon", `,
		"COPY --from=celadon /licenses /licenses": `entry{"licenses/`,
		"USER 65532:65532":                        `"65532:65532"`,
		"WORKDIR /src":                            `WorkingDir: "/src"`,
		`ENTRYPOINT ["/celadon"]`:                 `Entrypoint: []string{"/celadon"}`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") || !strings.Contains(code, same) {
			t.Errorf("want %s in Dockerfile.git, and %s in image.go", line, same)
		}
	}
}

func TestSnippets(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(regexp.QuoteMeta(root) + `([\w/-]*)[@,](v\d[\w.-]*)`)
	found, version := 0, newest(t)
	for _, page := range pages {
		for _, match := range pinned.FindAllStringSubmatch(string(read(t, page)), -1) {
			found++
			if info, err := os.Stat(filepath.Join("../..", match[1])); err != nil || !info.IsDir() || match[2] != version {
				t.Errorf("%s: %s: want a folder, and %s: %v", page, match[0], version, err)
			}
		}
	}
	if found < 3 {
		t.Errorf("%d pinned packages", found)
	}
	page := string(read(t, "../../docs/go-markers.md"))
	_, custom, _ := strings.Cut(page, "`.custom-gcl.yml`")
	_, custom, _ = strings.Cut(custom, "```yaml\n")
	custom, _, _ = strings.Cut(custom, "```")
	var plugins struct {
		Version string
		Plugins []struct{ Module, Import, Version string }
	}
	strict(t, []byte(custom), &plugins)
	for _, p := range plugins.Plugins {
		dir, err := os.Stat(filepath.Join("../..", strings.TrimPrefix(p.Import, root)))
		if err != nil || !dir.IsDir() || p.Version != version || path.Dir(p.Import) != p.Module || !slices.Contains(published, strings.TrimPrefix(p.Module, root+"/")) {
			t.Errorf("got %+v: %v", p, err)
		}
	}
	if len(plugins.Plugins) != 1 {
		t.Errorf("got %+v", plugins)
	}
}
