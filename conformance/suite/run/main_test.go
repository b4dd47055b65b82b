package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// acceptVariable is the environment variable that makes the test binary an implementation, which
// accepts each write.
const acceptVariable = "CELADON_SUITE_ACCEPT"

func TestMain(m *testing.M) {
	if os.Getenv(acceptVariable) == "" {
		os.Exit(m.Run())
	}
	dec, enc := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var req struct{ ID, Type string }
		if dec.Decode(&req) != nil {
			return
		}
		answer := map[string]any{"id": req.ID, "allowed": true}
		if req.Type == "hello" {
			answer = map[string]any{"id": req.ID, "levels": []string{"verdict"}}
		}
		if enc.Encode(answer) != nil {
			return
		}
	}
}

func TestExitCodes(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(acceptVariable, "1")
	known := filepath.Join(t.TempDir(), "known.txt")
	if err := os.WriteFile(known, []byte("verdict * *: accepts all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.txt")
	if err := os.WriteFile(broken, []byte("verdict\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"-minors 1.37 -groups types -known " + known + " -- " + self, 0, "types", ""},
		{"-minors 1.37 -groups types -failures 1 -- " + self, 1, "want allowed false, got true\n… and ", ""},
		{"-minors 1.5 -- " + self, 2, "", `run: unknown minor version "1.5"`},
		{"-known " + broken + " -- " + self, 2, "", "broken.txt: line 1: want"},
		{"-known /no/such/file -- " + self, 2, "", "no such file"},
		{"-speed", 2, "", "flag provided but not defined: -speed"},
		{"", 2, "", "run: no command"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(tt.args), &stdout, &stderr)
		if code != tt.code || !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
			t.Errorf("%s: got %d, want %d\n%s\n%s", tt.args, code, tt.code, stdout.String(), stderr.String())
		}
	}
}
