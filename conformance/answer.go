package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
)

// Answer is the response of the server or the result of the engine for a write, in a comparable form.
type Answer struct {
	Allowed bool
	// Code is the HTTP status code, or 0 if it was not recorded.
	Code int
	// Message is the message of a rejection. The server orders several causes at random, so
	// messages of rejections with several causes are not compared.
	Message  string
	Causes   []Cause
	Warnings []string
	// Object is the persisted object, or nil if the write was rejected or the object was not
	// recorded.
	Object map[string]any
}

// Cause is an entry of status.details.causes.
type Cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (c Cause) String() string {
	return fmt.Sprintf("%s %s: %s", c.Reason, c.Field, c.Message)
}

// clock matches the server's name for the type of self. It contains the time of the rule's
// compilation in nanoseconds.
var clock = regexp.MustCompile(`selfType\d+`)

// address matches a pointer in Go syntax, in which older servers show values.
var address = regexp.MustCompile(`\)\(0x[0-9a-f]+\)`)

func withoutClock(s string) string {
	return address.ReplaceAllString(clock.ReplaceAllString(s, "selfType"), ")(0x1)")
}

// parseResponse returns an error for a response that is neither the object nor a verdict, because the
// case was then not tried.
func parseResponse(r *response) (Answer, error) {
	a := Answer{Code: r.code, Warnings: r.warnings}
	switch r.code {
	case http.StatusOK, http.StatusCreated:
		object, err := engine.Decode(r.body)
		a.Allowed, a.Object = true, object
		return a, err
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		var status metav1.Status
		err := json.Unmarshal(r.body, &status)
		a.reject(&status)
		return a, err
	}
	return a, fmt.Errorf("the server answered %d: %s", r.code, shorten(string(r.body), 300))
}

func (a *Answer) reject(status *metav1.Status) {
	a.Message = withoutClock(status.Message)
	if status.Details == nil {
		return
	}
	for _, c := range status.Details.Causes {
		a.Causes = append(a.Causes, Cause{string(c.Type), c.Field, withoutClock(c.Message)})
	}
}

// The engine reports no code for accepted writes, so resultAnswer fills in the server's.
func resultAnswer(r *engine.Result, update bool) Answer {
	a := Answer{Allowed: r.Allowed, Code: http.StatusCreated, Warnings: r.Warnings, Object: r.Object}
	if update {
		a.Code = http.StatusOK
	}
	if r.Failure == nil {
		return a
	}
	a.Code = int(r.Failure.Code)
	a.reject(r.Failure)
	// Failure.Details has the causes in the form of the server's status, Causes in the form of
	// Celadon's API. Both must have the same content.
	if own := ownCauses(r); !slices.Equal(sortedCauses(own), sortedCauses(a.Causes)) {
		a.Causes = append(a.Causes, Cause{"InconsistentResult", "", fmt.Sprintf("Result.Causes: %q", own)})
	}
	return a
}

func ownCauses(r *engine.Result) []Cause {
	var out []Cause
	for _, c := range r.Causes {
		out = append(out, Cause{string(c.Reason), c.Field, withoutClock(c.Message)})
	}
	return out
}

func sortedCauses(causes []Cause) []Cause {
	out := slices.Clone(causes)
	slices.SortFunc(out, func(a, b Cause) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// chosenByRun lists the metadata fields that differ between servers or between runs, because only a
// server knows them or because each run uses its own names.
var chosenByRun = []string{"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}

// serverMetadata returns the metadata fields that are not compared with the current server, because
// only a server knows them. See TestServerMetadata.
func serverMetadata(right, ours Answer) []string {
	out := []string{"resourceVersion", "managedFields"}
	if right.Code != http.StatusCreated {
		return out
	}
	out = append(out, "uid", "creationTimestamp")
	if base := generatedBase(right.Object); base != "" && base == generatedBase(ours.Object) {
		out = append(out, "name")
	}
	return out
}

// generatedBase returns a generated name without its random end, or "" if the name was not generated.
func generatedBase(object map[string]any) string {
	const random = 5
	from, _ := metadataOf(object)["generateName"].(string)
	name := nameOf(object)
	if from == "" || len(name) < random || !strings.HasPrefix(from, name[:len(name)-random]) {
		return ""
	}
	return name[:len(name)-random]
}

// The encoding is canonical: keys are sorted, and 1.0 and 1 are the same number, as on the wire.
func comparable(object map[string]any) ([]byte, error) { return withoutMetadata(object, chosenByRun) }

func withoutMetadata(object map[string]any, fields []string) ([]byte, error) {
	if object == nil {
		return nil, nil
	}
	out := maps.Clone(object)
	if metadata := metadataOf(object); metadata != nil {
		rest := maps.Clone(metadata)
		for _, name := range fields {
			delete(rest, name)
		}
		out["metadata"] = rest
		if len(rest) == 0 {
			delete(out, "metadata")
		}
	}
	return json.Marshal(out)
}
