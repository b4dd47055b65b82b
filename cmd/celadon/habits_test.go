package main

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func TestHabits(t *testing.T) {
	t.Parallel()
	const crd, objects, good = "../../examples/crontab/crd.yaml", "../../examples/crontab/objects", "../../examples/crontab/objects/good.yaml"
	for _, c := range []struct {
		args string
		code int
		want string // in the output
	}{
		{"check -f " + good + " --crd " + crd, command.OK, "2 valid"},
		{"check -f " + good + " -f " + crd, command.OK, "2 valid"},
		{"check --filename=" + objects + " --crd=" + crd, command.Findings, "CronTab"},
		{"check -R -f " + good, command.Usage, "folders are searched recursively"},
		{"check -f " + good + " --dry-run=server", command.Usage, "celadon writes nothing to a cluster"},
		{"check -f " + good + " --strict", command.Usage, "unless --validate warn or ignore is set"},
		{"check --schema-location x " + good, command.Usage, "use --crd PATH"},
		{"check -A x", command.Usage, "--all-namespaces: use it with --cluster"},
		{"check -n default x", command.Usage, "--namespace: use it with --cluster"},
		{"check --kubeconfig x y", command.Usage, "--kubeconfig: use it with --cluster"},
		{"check --cluster --kubeconfig no-such-file", command.Usage, "no-such-file"},
		{"check -k no-such-folder", command.Usage, "--kustomize no-such-folder: "},
		{"check -f " + good + " -o name", command.Usage, "want text, wide,"},
		{"vet -f " + crd, command.OK, "1 CRD"},
		{"lint " + crd, command.Usage, "vet"},
		{"validate -f " + good, command.Usage, "check"},
		{"apply -f " + good, command.Usage, "check"},
		{"find " + crd + " --minimal -o yaml", command.OK, "kind: CronTab"},
		{"docs " + crd, command.OK, "# CronTab"},
		{"explain crontabs.spec " + crd, command.OK, "FIELDS:"},
		{"explain " + crd, command.OK, "KIND:       CronTab"},
		{"explain crontabs -f " + crd, command.OK, "KIND:       CronTab"},
		{"eval -f " + good + " --crd " + crd + " self.metadata.name", command.OK, "nightly"},
		{"test -f ../../examples/crontab/tests", command.OK, "passed"},
		{"diff -f " + crd, command.Usage, "OLD and NEW"},
		{"serve --crd no-such-folder", command.Usage, "--tls-cert"},
		{"serve --crds no-such-folder", command.Usage, "use --crd"},
	} {
		out, stderr, code := ran(t.Context(), "", strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out+stderr, c.want) {
			t.Errorf("celadon %s: exit code %d, want %d, and %q in\n%s%s", c.args, code, c.code, c.want, out, stderr)
		}
	}
}

func TestCheckHelpIsAScreen(t *testing.T) {
	t.Parallel()
	out, _, code := ran(t.Context(), "", "check", "--help")
	lines := 0
	for line := range strings.Lines(out) {
		lines += 1 + (len(line)-1)/120
	}
	if code != command.OK || lines > 60 {
		t.Errorf("%d lines:\n%s", lines, out)
	}
}
