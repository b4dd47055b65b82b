//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/clustertest"
)

const clusterMemory = 200 << 20

func TestClusterMemory(t *testing.T) {
	const objects = 100_000
	var env []string
	for name := 'A'; name <= 'J'; name++ {
		env = append(env, fmt.Sprintf(`{"name":"%c","value":%q}`, name, strings.Repeat("x", 100)))
	}
	s := clustertest.Start(t)
	s.Define(t, readFile(t, crontabCRD), objects, func(i int) string {
		return fmt.Sprintf(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"n%06d","namespace":"d"},"spec":{"schedule":"0 3 * * *","image":"a:1","replicas":%d,"env":[%s]}}`, i, i%7, strings.Join(env, ","))
	})
	cmd := exec.CommandContext(t.Context(), "celadon", "check", "--cluster", "-A", "--summary", "-o", "json")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig(t))
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	most, err := runMeasured(t, cmd)
	if !strings.Contains(out.String(), fmt.Sprintf(`"checked": %d`, objects)) {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	t.Logf("%d MiB for %d objects, %s of processor time", most>>20, objects, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if most == 0 || most > clusterMemory {
		t.Errorf("%d MiB: want no more than %d", most>>20, clusterMemory>>20)
	}
}
