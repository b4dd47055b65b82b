// Command check compares the run time of the celadon check process with that of two other programs
// on the same files: kubectl-validate, and a program that only reads and decodes them
// (peers/floor).
//
//	go install sigs.k8s.io/kubectl-validate@v0.0.4
//	CELADON_CORPUS=../corpus go run ./peers/check
//
// The files are HTTPRoutes of the corpus; one tenth are rejected. The programs run in
// turns, with one core and with two cores, and their median times are compared. The verdicts of
// celadon and kubectl-validate must be equal for each file.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	crdPrefix = "httproutes.gateway.networking.k8s.io"
	refusedIn = 10 // 1/refusedIn of the files are rejected
)

func main() {
	files := flag.Int("files", 1000, "how many files are checked")
	turns := flag.Int("turns", 5, "how often each program runs")
	peerTurns := flag.Int("peer-turns", 3, "how often kubectl-validate runs, which takes minutes")
	peer := flag.String("kubectl-validate", "", "the program; by default that of PATH or of Go's bin folder")
	flag.Parse()
	if err := run(*files, *turns, *peerTurns, *peer); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func run(files, turns, peerTurns int, peerPath string) error {
	dir, err := os.MkdirTemp("", "celadon-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	in, err := makeInput(dir, files)
	if err != nil {
		return err
	}
	celadon, floor := filepath.Join(dir, "celadon"), filepath.Join(dir, "floor")
	if err := build(celadon, "github.com/celadon-cel/celadon", "cmd/celadon"); err != nil {
		return err
	}
	if err := build(floor, "github.com/celadon-cel/celadon/conformance", "peers/floor"); err != nil {
		return err
	}
	fmt.Printf("%d files of %s, %d refused\n", files, in.crdName, in.refused)
	programs := []*program{
		{name: "celadon check", turns: turns, args: []string{celadon, "check", "--crd", in.crd, "--quiet", in.objects}},
		{name: "read and Unmarshal", turns: turns, args: []string{floor, in.crd, in.objects}},
	}
	if peer := findPeer(peerPath); peer != "" {
		if err := sameVerdicts(celadon, peer, in); err != nil {
			return err
		}
		fmt.Printf("verdicts are equal on all %d files\n", files)
		programs = append(programs, &program{name: "kubectl-validate", turns: peerTurns, args: peerArgs(peer, in)})
	}
	for _, cores := range []int{1, 2} {
		if err := measure(programs, cores); err != nil {
			return err
		}
		print(os.Stdout, programs, cores)
	}
	return nil
}

// build compiles a command of a module with the module's own dependencies.
func build(to, module, command string) error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("go list -m %s: %w", module, err)
	}
	cmd := exec.Command("go", "build", "-o", to, "./"+command)
	cmd.Dir, cmd.Stderr = strings.TrimSpace(string(dir)), os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s/%s: %w", module, command, err)
	}
	return nil
}

func environment(cores int) []string {
	return append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(cores), "KUBECONFIG="+os.DevNull)
}
