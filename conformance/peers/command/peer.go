package command

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
	peerName    = "kubectl-validate"
	peerModule  = "sigs.k8s.io/" + peerName
	peerVersion = "v0.0.4"
	// peerTurns is less than for other programs, because a run takes hundreds of times as long.
	peerTurns = 1
)

// FindPeer returns the path of kubectl-validate. It prints a message if it is not installed or has
// another version.
func FindPeer(path string) string {
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
	if path, err := exec.LookPath(peerName); err == nil {
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
		path := filepath.Join(dir, peerName)
		if _, err := os.Stat(path); dir != "" && err == nil {
			return path
		}
	}
	return ""
}

// KubectlValidate returns a program that validates the files of a folder with kubectl-validate.
func KubectlValidate(path string, k *Kind, files string) Program {
	return Program{Name: peerName, Args: []string{path, "--local-crds", k.folder(), files}, Turns: peerTurns}
}

// SameVerdicts returns an error unless celadon and kubectl-validate reject the same files of a folder,
// and as many as Files made.
func SameVerdicts(celadon, peer string, k *Kind, files string) error {
	ours, err := celadonRejects(celadon, k, files)
	if err != nil {
		return err
	}
	theirs, err := peerRejects(peer, k, files)
	if err != nil {
		return err
	}
	rejected, different := 0, []string{}
	for file, is := range ours {
		if is {
			rejected++
		}
		if was, ok := theirs[file]; !ok || was != is {
			different = append(different, filepath.Base(file))
		}
	}
	want := (len(ours) + rejectedIn - 1) / rejectedIn
	if len(different) > 0 || len(ours) != len(theirs) || rejected != want {
		return fmt.Errorf("verdicts of %d files differ (%v), of %d and %d files; %d were rejected, want %d",
			len(different), different[:min(3, len(different))], len(ours), len(theirs), rejected, want)
	}
	return nil
}

func celadonRejects(celadon string, k *Kind, files string) (map[string]bool, error) {
	var report struct {
		Objects []struct{ File, Verdict string }
	}
	if err := runJSON(&report, celadon, "check", "--crd", k.CRD, "-o", "json", files); err != nil {
		return nil, err
	}
	rejects := map[string]bool{}
	for _, o := range report.Objects {
		rejects[o.File] = o.Verdict != "valid"
	}
	return rejects, nil
}

func peerRejects(peer string, k *Kind, files string) (map[string]bool, error) {
	var report map[string][]metav1.Status
	if err := runJSON(&report, peer, "--local-crds", k.folder(), "-o", "json", files); err != nil {
		return nil, err
	}
	rejects := map[string]bool{}
	for file, statuses := range report {
		for _, s := range statuses {
			rejects[file] = rejects[file] || s.Status != metav1.StatusSuccess
		}
	}
	return rejects, nil
}

// runJSON runs a program and decodes its output. Exit code 1 means that objects were rejected and
// is not an error.
func runJSON(to any, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
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
