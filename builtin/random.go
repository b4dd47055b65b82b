package builtin

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// suffix replaces the random characters that the server appends to metadata.generateName.
const suffix = "00000"

var (
	uuids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	nodePorts = regexp.MustCompile(`Duplicate value: [45][0-9]{4}\b`)
)

// unnamed reports whether the server makes the name of the object.
func (w *write) unnamed() bool { return w.name() == "" && metadata(w.Object)["generateName"] != nil }

// settled returns a response in which all random values of the server are constant, so that a result does not depend on
// chance: names, the UIDs of new objects, and the node ports in messages.
func (w *write) settled(sent []byte, response []byte, failed bool) []byte {
	if w.unnamed() {
		if name := nameIn(response); len(name) >= len(suffix) {
			response = bytes.ReplaceAll(response, []byte(name), []byte(name[:len(name)-len(suffix)]+suffix))
		}
	}
	if w.OldObject == nil && (failed || w.kind.Kind == "Job" || w.kind.Kind == "LimitRange") {
		response = uuids.ReplaceAllFunc(response, func(uid []byte) []byte {
			if bytes.Contains(sent, uid) {
				return uid
			}
			return []byte(unknownUID)
		})
	}
	if failed && w.kind.Kind == "Service" {
		response = nodePorts.ReplaceAllFunc(response, func(text []byte) []byte {
			port := string(text[len(text)-5:])
			if n, _ := strconv.Atoi(port); n < firstOther || n >= lastOther || bytes.Contains(sent, []byte(port)) {
				return text
			}
			return []byte(strings.TrimSuffix(string(text), port) + strconv.Itoa(firstPort))
		})
	}
	return response
}

// nameIn returns the name in an object or in a Status.
func nameIn(response []byte) string {
	var o struct {
		Metadata, Details struct{ Name string }
	}
	if json.Unmarshal(response, &o) != nil {
		return ""
	}
	return o.Metadata.Name + o.Details.Name
}
