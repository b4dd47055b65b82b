package suite

import (
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
)

// Format is the version of the data and the protocol.
const Format = 1

// Data holds the files of the suite.
//
//go:embed data
var Data embed.FS

// The names of the files in a folder of data.
const (
	headFile  = "suite.json"
	crdsFile  = "crds.jsonl"
	casesFile = "cases.jsonl"
)

// A Head describes the data.
type Head struct {
	Format int     `json:"format"`
	Minors []Minor `json:"minors"`
	Groups []Group `json:"groups"`
}

// A Minor is a Kubernetes minor version and the source of its responses.
type Minor struct {
	Minor string `json:"minor"`
	// Source is "server" or "library".
	Source string `json:"source"`
	// Release is the version of k8s.io/apiextensions-apiserver.
	Release string `json:"release"`
}

// A Group holds the cases that test one topic.
type Group struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// A CRD is a CustomResourceDefinition that cases refer to.
type CRD struct {
	ID  string          `json:"id"`
	CRD json.RawMessage `json:"crd"`
}

// A Write is a create of Object, or an update if OldObject is not empty.
type Write struct {
	Version         string          `json:"version"`
	Subresource     string          `json:"subresource,omitempty"`
	FieldValidation string          `json:"fieldValidation"`
	Object          json.RawMessage `json:"object"`
	OldObject       json.RawMessage `json:"oldObject,omitempty"`
}

// A Case is a write with the expected responses.
type Case struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	CRD   string `json:"crd"`
	Write
	Answers []Expected `json:"answers"`
}

// Expected is the response of some minor versions.
type Expected struct {
	Minors []string `json:"minors"`
	Response
}

// A Response is the outcome of a write.
type Response struct {
	Allowed bool `json:"allowed"`
	Code    int  `json:"code"`
	// Message is the message of a rejection without causes.
	Message  string          `json:"message,omitempty"`
	Causes   []Cause         `json:"causes,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Object   json.RawMessage `json:"object,omitempty"`
	Cost     *int64          `json:"cost,omitempty"`
}

// A Cause is an entry of status.details.causes.
type Cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// A Request is a line that an implementation reads.
type Request struct {
	ID string `json:"id"`
	// Type is "hello" or "write".
	Type   string          `json:"type"`
	Format int             `json:"format,omitempty"`
	Minor  string          `json:"minor,omitempty"`
	CRDID  string          `json:"crdID,omitempty"`
	CRD    json.RawMessage `json:"crd,omitempty"`
	*Write
}

// An Answer is one line of an implementation's output.
type Answer struct {
	ID string `json:"id"`
	// Name, Levels, and Minors are the response to a hello.
	Name   string   `json:"name,omitempty"`
	Levels []string `json:"levels,omitempty"`
	Minors []string `json:"minors,omitempty"`
	// Unsupported is the reason why the implementation does not validate the write.
	Unsupported string `json:"unsupported,omitempty"`
	Response
}

// A Suite is the content of a folder of data.
type Suite struct {
	Head
	CRDs  []CRD
	Cases []Case
}

// Read reads a folder of data.
func Read(files fs.FS) (*Suite, error) {
	s := &Suite{}
	head, err := fs.ReadFile(files, headFile)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(head, &s.Head); err != nil {
		return nil, fmt.Errorf("%s: %w", headFile, err)
	}
	if s.Format != Format {
		return nil, fmt.Errorf("%s: unknown format %d (want %d): use the runner of the same release", headFile, s.Format, Format)
	}
	if s.CRDs, err = readLines[CRD](files, crdsFile); err != nil {
		return nil, err
	}
	s.Cases, err = readLines[Case](files, casesFile)
	return s, err
}

// Default returns the suite that is part of the package.
func Default() (*Suite, error) {
	files, err := fs.Sub(Data, "data")
	if err != nil {
		return nil, err
	}
	return Read(files)
}

func readLines[T any](files fs.FS, name string) (all []T, err error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		all = append(all, one)
	}
	return all, lines.Err()
}

// Expected returns the expected response for a minor version, or nil if no response is recorded.
func (c *Case) Expected(minor string) *Expected {
	for i := range c.Answers {
		if slices.Contains(c.Answers[i].Minors, minor) {
			return &c.Answers[i]
		}
	}
	return nil
}

// Hello returns the first request of a run.
func Hello() *Request { return &Request{ID: "hello", Type: "hello", Format: Format} }

// Request returns the request of a case for a minor version.
func (s *Suite) Request(c *Case, minor string) *Request {
	req := &Request{ID: minor + " " + c.ID, Type: "write", Minor: minor, CRDID: c.CRD, Write: &c.Write}
	if i := slices.IndexFunc(s.CRDs, func(crd CRD) bool { return crd.ID == c.CRD }); i >= 0 {
		req.CRD = s.CRDs[i].CRD
	}
	return req
}
