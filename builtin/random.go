package builtin

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

var (
	uuids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	nodePorts = regexp.MustCompile(`Duplicate value: [45][0-9]{4}\b`)
)

// settled returns a response in which all random values of the server are constant, so that a result does not depend on
// chance: the UIDs of new objects, and the node ports in messages.
func (w *write) settled(sent []byte, response []byte, failed bool) []byte {
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
