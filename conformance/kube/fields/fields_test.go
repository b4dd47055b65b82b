package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGenerated(t *testing.T) {
	got, err := os.ReadFile(filepath.FromSlash(output))
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not up to date: run go generate", output)
	}
}
