package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/converter"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/findingtest"
)

// asked counts the requests.
func reviewServer(t *testing.T, mode string) (url, ca string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	release := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		n := asked.Add(1)
		body, _ := io.ReadAll(req.Body)
		switch mode {
		case "hang":
			select {
			case <-release:
			case <-req.Context().Done():
			}
		case "panic":
			panic(http.ErrAbortHandler)
		case "dropped": // loses the image, and after 1,000 requests aborts connections
			if n > 1000 {
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write(converter.Respond(body, "drop"))
		case "garbage":
			fmt.Fprint(w, "{\x1b[31m")
		default:
			_, _ = w.Write(converter.Respond(body, mode))
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) })
	ca = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.URL + "/convert", ca, asked
}

func told(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
	code = a.run(t.Context(), args)
	return code, out.String(), errs.String()
}

const conversionCRD, conversionObject = "../../examples/conversion/crd.yaml", "../../examples/conversion/crontab.yaml"

func TestCheckConverts(t *testing.T) {
	t.Parallel()
	v1 := filepath.Join(t.TempDir(), "v1.yaml")
	if err := os.WriteFile(v1, []byte("{apiVersion: stable.example.com/v1, kind: CronTab, metadata: {name: nightly}, spec: {host: h, port: '1'}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]struct {
		code int
		text string
	}{
		"good":    {0, "1 object checked: 1 valid"},
		"fail":    {1, `Error from server: error when creating "` + v1 + `": conversion webhook for stable.example.com/v1, Kind=CronTab failed: will not\n\x1b[2J`},
		"panic":   {2, "not checked: conversion webhook for stable.example.com/v1, Kind=CronTab failed: Post"},
		"garbage": {2, `not checked: conversion webhook for stable.example.com/v1, Kind=CronTab failed: couldn't get version/kind; json parse error: invalid character '\x1b'`},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			url, ca, asked := reviewServer(t, mode)
			code, out, errs := told(t, "check", "--no-config", "--crd", conversionCRD, "--convert", url, "--convert-ca", ca, v1)
			if code != want.code || !strings.Contains(out+errs, want.text) || asked.Load() == 0 {
				t.Errorf("exit code %d, want %d; asked %d times; want %s in\n%s%s", code, want.code, asked.Load(), want.text, out, errs)
			}
			if strings.Contains(out+errs, "\x1b") {
				t.Errorf("the webhook steers the terminal: %q", out+errs)
			}
			// An update of an object that is stored in the other version.
			code, out, errs = told(t, "check", "--no-config", "--crd", conversionCRD, "--convert", url, "--convert-ca", ca, "--old", conversionObject, v1)
			if code != want.code {
				t.Errorf("update: exit code %d, want %d:\n%s%s", code, want.code, out, errs)
			}
			code, out, errs = told(t, "diff", "--no-config", "--objects", v1, "--convert", url, "--convert-ca", ca, "--steps", "10", conversionCRD, conversionCRD)
			if mode == "good" && code != 0 || mode == "panic" && code != 2 {
				t.Errorf("diff: exit code %d:\n%s%s", code, out, errs)
			}
		})
	}
}

func TestConvertIsNeverAskedUnnamed(t *testing.T) {
	t.Parallel()
	url, _, asked := reviewServer(t, "good")
	dir := t.TempDir()
	crd, err := os.ReadFile(conversionCRD)
	if err != nil {
		t.Fatal(err)
	}
	crd = []byte(strings.Replace(string(crd), "service: {namespace: default, name: example-conversion-webhook, path: /crdconvert}", "url: "+url, 1))
	for name, data := range map[string][]byte{"crd.yaml": crd, "o.yaml": []byte("{apiVersion: stable.example.com/v1, kind: CronTab, metadata: {name: nightly}}")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"check", "--no-config", "--crd", dir + "/crd.yaml", dir + "/o.yaml"},
		{"check", "--no-config", "--crd", dir + "/crd.yaml", "--old", conversionObject, dir + "/o.yaml"},
		{"diff", "--no-config", "--steps", "10", "--objects", dir + "/o.yaml", dir + "/crd.yaml", dir + "/crd.yaml"},
		{"convert", "--crd", dir + "/crd.yaml", "--to", "v1beta1", dir + "/o.yaml"},
		{"convert", "test", "--no-config", "--crd", dir + "/crd.yaml"},
	} {
		told(t, args...)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("asked %d times", n)
	}
}

func TestConvertHangs(t *testing.T) {
	t.Parallel()
	url, ca, asked := reviewServer(t, "hang")
	code, out, errs := told(t, "convert", "test", "--no-config", "--crd", conversionCRD, "--convert", url, "--convert-ca", ca, "--timeout", "30ms")
	if code != 2 || !strings.Contains(errs, "not checked: the converter does not respond: ") || !strings.Contains(errs, "context deadline exceeded") || asked.Load() > 4 {
		t.Errorf("exit code %d, asked %d times:\n%s%s", code, asked.Load(), out, errs)
	}
	code, out, errs = told(t, "convert", "--crd", conversionCRD, "--convert", url, "--convert-ca", ca, "--timeout", "30ms", "--to", "v1", conversionObject)
	if code != 2 || !strings.Contains(errs, "not checked: conversion webhook for ") || !strings.Contains(errs, "context deadline exceeded") || out != "" {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
}

func TestConvertTestEndsEarly(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		code int
		text string
	}{"gone": {2, "celadon: " + conversionCRD + ":2: crontabs.stable.example.com: not checked: the converter does not respond: "}, "interrupted": {130, "celadon: interrupted\n"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			url, ca, asked := reviewServer(t, "drop")
			go func() {
				for asked.Load() < 1000 {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
			if name == "gone" {
				url, ca, _ = reviewServer(t, "dropped")
			}
			var out, errs bytes.Buffer
			a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
			code := a.run(ctx, []string{"convert", "test", "--no-config", "--crd", conversionCRD, "--convert", url, "--convert-ca", ca, "--objects", "100000"})
			if code != want.code || !strings.Contains(out.String(), "spec.image is lost via") || !strings.Contains(errs.String(), want.text) {
				t.Errorf("exit code %d:\n%s%s", code, out.String(), errs.String())
			}
		})
	}
}

func TestConvertTestByWebhook(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"good": "no findings in 200 round trips between v1beta1 and v1", "drop": "spec.image is lost via v1beta1"} {
		url, ca, _ := reviewServer(t, mode)
		args := []string{"convert", "test", "--no-config", "--crd", conversionCRD, "--convert", url, "--convert-ca", ca, "--objects", "200", "--timeout", "5m", "-o", "text"}
		code, out, errs := told(t, args...)
		if (code == 0) != (mode == "good") || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d:\n%s%s", mode, code, out, errs)
		}
		if _, again, _ := told(t, args...); again != out {
			t.Errorf("%s: another report:\n%s\n%s", mode, out, again)
		}
		_, out, _ = told(t, append(args, "--output", "json")...)
		findingtest.JSON(t, "../../docs/convert-report.schema.json", "", []byte(out))
	}
}

// A child that started its own session keeps running, which docs/security.md allows, but celadon does not wait for
// it.
func TestConvertEndsChildren(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		timeout time.Duration
		code    int
		text    string
	}{
		"child":   {2 * time.Second, 2, "no response within %s"},
		"leave":   {5 * time.Minute, 0, "apiVersion: stable.example.com/v1\n%.0s"},
		"session": {5 * time.Minute, 0, "apiVersion: stable.example.com/v1\n%.0s"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			noted := filepath.Join(dir, "pid")
			text, timeout := []byte(nil), want.timeout
			for len(text) == 0 { // a busy machine may need longer than the timeout to start the child
				code, out, errs := told(t, "convert", "--crd", conversionCRD, "--exec", "converter "+mode+" "+noted, "--timeout", timeout.String(), "--to", "v1", conversionObject)
				if code != want.code || !strings.Contains(out+errs, fmt.Sprintf(want.text, timeout)) {
					t.Fatalf("exit code %d:\n%s%s", code, out, errs)
				}
				text, _ = os.ReadFile(noted)
				timeout *= 2
			}
			pid, err := strconv.Atoi(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if mode == "session" {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Errorf("process %d has ended: docs/security.md can promise more: %v", pid, err)
				}
				return
			}
			for end := time.Now().Add(5 * time.Minute); alive(pid); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("process %d goes on", pid)
				}
			}
		})
	}
}

// Zombies are not alive.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}
