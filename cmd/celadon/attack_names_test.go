package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func TestAttackFileNames(t *testing.T) {
	t.Parallel()
	for name, args := range outputs {
		_, flag, _ := strings.Cut(name, " --")
		flag, folder := strings.CutSuffix(flag, "/")
		if !folder {
			continue
		}
		i := slices.IndexFunc(args, func(arg string) bool { return strings.HasSuffix(arg, "crd.yaml") })
		crd, err := os.ReadFile(args[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, hostile := range []string{"../evil", "/tmp/evil", ".git/hooks/x", `..\evil`, "-o"} {
			for _, key := range []string{"  name: crontabs.stable.example.com", "group: stable.example.com", "kind: CronTab", "plural: crontabs", "name: v1"} {
				before, _, _ := strings.Cut(key, ": ")
				dir := tree(t, map[string]string{"repo/.git/HEAD": "", "repo/crd.yaml": strings.ReplaceAll(string(crd), key, before+": '"+hostile+"'")})
				known := files(t, dir)
				line := slices.Concat(args, []string{"--" + flag, dir + "/repo/made"})
				line[i] = dir + "/repo/crd.yaml"
				if out, code := run(t, line...); code == command.Bug {
					t.Errorf("%v, %s %q: exit code %d: %s", line, key, hostile, code, out)
				}
				for path := range files(t, dir) {
					made := filepath.Dir(path) == dir+"/repo/made" && !strings.ContainsAny(filepath.Base(path)[:1], ".-") && !strings.ContainsAny(filepath.Base(path), `\:`)
					if _, ok := known[path]; !ok && !made && path != dir+"/repo/made" {
						t.Errorf("%v, %s %q: wrote %s", line, key, hostile, path)
					}
				}
			}
		}
	}
}
