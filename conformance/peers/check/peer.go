package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	peerModule  = "sigs.k8s.io/kubectl-validate"
	peerVersion = "v0.0.4"
)

// findPeer returns the path of kubectl-validate. It prints a message if it is not installed or has
// another version.
func findPeer(path string) string {
	if path == "" {
		path = installed()
	}
	if path == "" {
		fmt.Printf("kubectl-validate is not installed, so it is left out; get it with: go install %s@%s\n", peerModule, peerVersion)
		return ""
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil || info.Main.Path != peerModule || info.Main.Version != peerVersion {
		fmt.Printf("%s is not %s@%s: the figures are those of the installed version\n", path, peerModule, peerVersion)
	}
	return path
}

func installed() string {
	if path, err := exec.LookPath("kubectl-validate"); err == nil {
		return path
	}
	out, err := exec.Command("go", "env", "GOBIN", "GOPATH").Output()
	if err != nil {
		return ""
	}
	gobin, gopath, _ := strings.Cut(strings.TrimRight(string(out), "\n"), "\n")
	folders := []string{gobin}
	for _, dir := range filepath.SplitList(gopath) {
		folders = append(folders, filepath.Join(dir, "bin"))
	}
	for _, dir := range folders {
		path := filepath.Join(dir, "kubectl-validate")
		if _, err := os.Stat(path); dir != "" && err == nil {
			return path
		}
	}
	return ""
}

func peerArgs(peer string, in *input) []string {
	return []string{peer, "--local-crds", in.crdDir, in.objects}
}

// sameVerdicts returns an error unless both programs reject the same files, and as many as
// expected.
func sameVerdicts(celadon, peer string, in *input) error {
	ours, err := celadonRefuses(celadon, in)
	if err != nil {
		return err
	}
	theirs, err := peerRefuses(peer, in)
	if err != nil {
		return err
	}
	refused, different := 0, 0
	for file, is := range ours {
		if is {
			refused++
		}
		if was, ok := theirs[file]; !ok || was != is {
			different++
			fmt.Printf("%s: refused by celadon %t, by kubectl-validate %t\n", filepath.Base(file), is, was)
		}
	}
	if different > 0 || len(ours) != len(theirs) || refused != in.refused {
		return fmt.Errorf("verdicts are not equal: %d of %d files differ (kubectl-validate saw %d), %d refused where %d were made so",
			different, len(ours), len(theirs), refused, in.refused)
	}
	return nil
}

func celadonRefuses(celadon string, in *input) (map[string]bool, error) {
	var report struct {
		Objects []struct{ File, Verdict string }
	}
	if err := runJSON(&report, celadon, "check", "--crd", in.crd, "-o", "json", in.objects); err != nil {
		return nil, err
	}
	refuses := map[string]bool{}
	for _, o := range report.Objects {
		refuses[o.File] = o.Verdict != "valid"
	}
	return refuses, nil
}

func peerRefuses(peer string, in *input) (map[string]bool, error) {
	var report map[string][]metav1.Status
	if err := runJSON(&report, peer, "--local-crds", in.crdDir, "-o", "json", in.objects); err != nil {
		return nil, err
	}
	refuses := map[string]bool{}
	for file, statuses := range report {
		for _, s := range statuses {
			refuses[file] = refuses[file] || s.Status != metav1.StatusSuccess
		}
	}
	return refuses, nil
}

// runJSON runs a program and decodes its output. Exit code 1 means that objects were rejected and
// is not an error.
func runJSON(to any, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = environment(2)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	if err := json.Unmarshal(out, to); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}
