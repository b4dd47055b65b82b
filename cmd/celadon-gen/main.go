// Celadon-gen generates the CRDs of Go packages in memory, as controller-gen does. Use it to run
// celadon vet on packages that have no generated CRDs yet:
//
//	celadon-gen ./api/... | celadon vet --crd - ./api/...
//
// It is a separate module, so that users of Celadon do not depend on controller-tools.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

const usage = `usage: celadon-gen PACKAGES

Writes to standard output the CustomResourceDefinitions that controller-gen ` + toolsVersion + `
generates from the packages, such as ./api/... or an import path. The go command loads
the packages, without a network connection and without running any of their code.

Exit codes: 0 success, 2 usage error, or a package without a complete result; nothing
is written then.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the command and returns its exit code.
func run(ctx context.Context, patterns []string, stdout, stderr io.Writer) int {
	stderr = untrusted.NewWriter(stderr)
	if slices.Contains(patterns, "--help") || slices.Contains(patterns, "-h") {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if len(patterns) == 0 || strings.HasPrefix(patterns[0], "-") {
		fmt.Fprint(stderr, usage)
		return 2
	}
	made, err := generate(ctx, "", patterns)
	if err != nil {
		untrusted.Fprintf(stderr, "celadon-gen: %s\n", untrusted.Lines(err.Error(), "  "))
		return 2
	}
	for _, problem := range made.problems {
		untrusted.Fprintf(stderr, "%s\n", problem)
	}
	if len(made.problems) > 0 {
		return 2 // incomplete output would look like all the CRDs
	}
	if len(made.crds) == 0 {
		untrusted.Fprintf(stderr, "celadon-gen: no kinds in %s: want packages with types that have +kubebuilder:object:root=true or +kubebuilder:resource markers\n", strings.Join(patterns, " "))
		return 2
	}
	fmt.Fprintf(stdout, "# Generated as by controller-gen %s; the project's own generator may differ.\n", toolsVersion)
	for _, crd := range made.crds {
		if _, err := stdout.Write(crd); err != nil {
			return 2
		}
	}
	return 0
}
