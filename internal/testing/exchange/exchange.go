// Package exchange holds requests to an API server with its responses, and predicts the responses with engine and
// engine/policy; package builtin/testing/seen provides the objects of built-in kinds. conformance/kube records
// responses of a real kube-apiserver. Tests replay them without a server.
package exchange

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
)

// An Object is decoded JSON with numbers of type int64 and float64.
type Object = map[string]any

// A Scene is the state of a cluster, as far as policies depend on it, with requests to the cluster.
type Scene struct {
	Name string `json:"name"`
	// Documents holds policies, bindings, params, Namespaces, RBAC objects, and CRDs.
	Documents []Object   `json:"documents"`
	Exchanges []Exchange `json:"exchanges"`
}

// An Exchange is a request with the server's response.
type Exchange struct {
	Request Request `json:"request"`
	Answer  Answer  `json:"answer"`
}

// A Request is a write as a client sends it. Patches are given by their result.
type Request struct {
	Operation policy.Operation `json:"operation"`
	// Resource is the plural name, and APIVersion its group and version.
	APIVersion  string `json:"apiVersion"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	// Kind and KindVersion belong to Object. KindVersion is empty if it equals APIVersion.
	Kind        string `json:"kind"`
	KindVersion string `json:"kindVersion,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	// Name is empty if the server generates it.
	Name    string `json:"name,omitempty"`
	User    User   `json:"user"`
	DryRun  bool   `json:"dryRun,omitempty"`
	Options Object `json:"options,omitempty"`
	// Object is the new object, and Old the stored object in the version of the request.
	Object Object `json:"object,omitempty"`
	Old    Object `json:"old,omitempty"`
	// Patched is set if Object is the result of a patch.
	Patched bool `json:"patched,omitempty"`
	// Collection is set if the request deletes the collection, limited to Name by a field selector.
	Collection bool `json:"collection,omitempty"`
}

// User is the user of a request.
type User struct {
	Name   string              `json:"name"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Accepted is the Answer.Code of accepted requests.
const Accepted = 200

// An Answer is a server's response to a request. Code is Accepted if policies and, for custom
// resources, the CRD accept the request.
type Answer struct {
	Code        int32             `json:"code"`
	Reason      string            `json:"reason,omitempty"`
	Message     string            `json:"message,omitempty"`
	Causes      []string          `json:"causes,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Webhooks lists the admission webhooks that the server called.
	Webhooks []string `json:"webhooks,omitempty"`
	// Object is the new custom resource without the metadata that the server sets. It can be set in
	// scenes with mutating policies.
	Object Object `json:"object,omitempty"`
}

// Mutates reports whether the scene has mutating policies.
func (s *Scene) Mutates() bool {
	return slices.ContainsFunc(s.Documents, func(doc Object) bool { return doc["kind"] == "MutatingAdmissionPolicy" })
}

// WithoutServerFields returns an object without the metadata that the server sets, which can
// include its name.
func WithoutServerFields(o Object) Object {
	o = maps.Clone(o)
	meta, _ := o["metadata"].(Object)
	meta = maps.Clone(meta)
	if meta["generateName"] != nil {
		delete(meta, "name")
	}
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		delete(meta, field)
	}
	o["metadata"] = meta
	return o
}

// Encode returns scenes in compressed form.
func Encode(scenes []*Scene) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, s := range scenes {
		data, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		if _, err := w.Write(append(data, '\n')); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Decode returns the scenes of Encode.
func Decode(data []byte) (scenes []*Scene, err error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		s := &Scene{}
		if err := json.Unmarshal(line, s); err != nil {
			return nil, err
		}
		if err := s.FixNumbers(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		scenes = append(scenes, s)
	}
	return scenes, nil
}

// FixNumbers decodes all objects again, as the server does, so that integers have the type int64.
func (s *Scene) FixNumbers() error {
	for i := range s.Documents {
		if err := fixNumbers(&s.Documents[i]); err != nil {
			return err
		}
	}
	for i := range s.Exchanges {
		r := &s.Exchanges[i].Request
		for _, o := range []*Object{&r.Object, &r.Old, &r.Options, &s.Exchanges[i].Answer.Object} {
			if err := fixNumbers(o); err != nil {
				return err
			}
		}
	}
	return nil
}

func fixNumbers(o *Object) error {
	if *o == nil {
		return nil
	}
	data, err := json.Marshal(*o)
	if err != nil {
		return err
	}
	*o, err = engine.Decode(data)
	return err
}
