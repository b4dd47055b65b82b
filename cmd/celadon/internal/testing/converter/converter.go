// Package converter converts objects of the CRD of examples/conversion, rightly or not. Its program starts in
// 2 ms; the tests' own binary, with all of the command, takes 150 ms.
package converter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Main is the program. Its first argument is a mode, which selects its behavior.
func Main() {
	mode := os.Args[1]
	switch mode {
	case "panic":
		panic("no longer")
	case "hang":
		time.Sleep(time.Hour)
	case "child", "leave", "session": // a child that holds the output open and outlives its parent
		cmd := exec.Command("sleep", "3600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: mode == "session"}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(os.Args[2], []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
			log.Fatal(err)
		}
		if mode == "child" {
			time.Sleep(time.Hour)
		}
	case "flood":
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return
			}
		}
	case "complain":
		fmt.Fprint(os.Stderr, "\x1b[31m", strings.Repeat("evil\n", 10_000))
		os.Exit(1)
	}
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(Respond(body, mode)); err != nil {
		log.Fatal(err)
	}
}

// Respond converts the objects of a ConversionReview by splitting hostPort. An object whose hostPort cannot be split keeps it in an
// annotation, so that no data is lost. Mode "drop" loses the image, and "forget" loses it on the way to
// v1.
func Respond(body []byte, mode string) []byte {
	var r struct {
		APIVersion string `json:"apiVersion"`
		Request    struct {
			UID               string           `json:"uid"`
			DesiredAPIVersion string           `json:"desiredAPIVersion"`
			Objects           []map[string]any `json:"objects"`
		} `json:"request"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return []byte(err.Error())
	}
	for _, obj := range r.Request.Objects {
		splitHostPort(obj, r.Request.DesiredAPIVersion)
		if spec, ok := obj["spec"].(map[string]any); ok && (mode == "drop" || mode == "forget" && strings.HasSuffix(r.Request.DesiredAPIVersion, "/v1")) {
			delete(spec, "image")
		}
	}
	result := map[string]any{"status": "Success"}
	if mode == "fail" {
		result = map[string]any{"status": "Failure", "message": "will not\n\x1b[2J"}
	}
	out, _ := json.Marshal(map[string]any{"apiVersion": r.APIVersion, "kind": "ConversionReview", "response": map[string]any{
		"uid": r.Request.UID, "convertedObjects": r.Request.Objects, "result": result,
	}})
	return out
}

func splitHostPort(obj map[string]any, apiVersion string) {
	const kept = "stable.example.com/kept"
	obj["apiVersion"] = apiVersion
	meta := obj["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	spec, ok := obj["spec"].(map[string]any)
	if !ok {
		return
	}
	from := map[string]any{}
	for _, name := range []string{"host", "port", "hostPort"} {
		if v, ok := spec[name]; ok {
			from[name] = v
		}
		delete(spec, name)
	}
	var back map[string]any
	text, _ := notes[kept].(string)
	_ = json.Unmarshal([]byte(text), &back)
	delete(notes, kept)
	if strings.HasSuffix(apiVersion, "/v1") {
		hostPort, ok := from["hostPort"].(string)
		if host, port, cut := strings.Cut(hostPort, ":"); cut && strings.Trim(port, "0123456789") == "" && len(port) < 6 && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" && len(host) <= 253 {
			spec["host"], spec["port"] = host, port
			return
		} else if !ok && len(back) > 0 {
			maps.Copy(spec, back)
			return
		} else if !ok {
			return
		}
	} else {
		_, hasHost := from["host"]
		_, hasPort := from["port"]
		if hasHost && hasPort {
			spec["hostPort"] = fmt.Sprint(from["host"], ":", from["port"])
			return
		} else if len(from) == 0 {
			maps.Copy(spec, back)
			return
		}
	}
	data, _ := json.Marshal(from)
	if notes == nil {
		notes = map[string]any{}
	}
	notes[kept] = string(data)
	meta["annotations"] = notes
}
