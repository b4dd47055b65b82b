package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

// document is a case in a corpus file. The package comment describes the format.
type document struct {
	CRD             string          `json:"crd"`
	AlsoCRDs        []string        `json:"alsoCrds"`
	Version         string          `json:"version"`
	Subresource     string          `json:"subresource"`
	FieldValidation string          `json:"fieldValidation"`
	Ratcheting      bool            `json:"ratcheting"`
	Expect          string          `json:"expect"`
	ErrorContains   []string        `json:"errorContains"`
	ErrorIgnoreCase bool            `json:"errorIgnoreCase"`
	OldObject       json.RawMessage `json:"oldObject"`
	Object          json.RawMessage `json:"object"`
	ExpectObject    json.RawMessage `json:"expectObject"`
}

type reader struct {
	dir     string
	crds    map[string]*CRD
	answers map[string]*Answer
	corpus  *Corpus
}

// Corpus holds the cases of corpus folders.
type Corpus struct {
	Cases []*Case
	// Unreadable holds the errors of cases that cannot be run, by case ID, or by file if the whole
	// file is unreadable.
	Unreadable map[string]error
}

// ReadCorpus reads all cases of a corpus folder, including those for other variants of a CRD.
// Recorded responses are optional.
func ReadCorpus(dir string) (*Corpus, error) {
	r := &reader{
		dir: dir, crds: map[string]*CRD{}, answers: map[string]*Answer{},
		corpus: &Corpus{Unreadable: map[string]error{}},
	}
	if err := r.readAnswers(); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "cases", "*", "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no cases/*/*.yaml", dir)
	}
	for _, file := range files {
		r.readCases(file)
	}
	return r.corpus, nil
}

func (r *reader) readCases(file string) {
	project := filepath.Base(filepath.Dir(file))
	id := project + "/" + filepath.Base(file)
	data, err := os.ReadFile(file)
	if err != nil {
		r.corpus.Unreadable[id] = err
		return
	}
	documents := yamlstream.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for index := 0; ; index++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			r.corpus.Unreadable[id] = err
			return
		}
		cases, err := r.readCase(id, index, project, text)
		if err != nil {
			r.corpus.Unreadable[answerKey(id, index)] = err
		}
		r.corpus.Cases = append(r.corpus.Cases, cases...)
	}
}

func (r *reader) readCase(file string, index int, project string, text []byte) ([]*Case, error) {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	c, err := d.newCase(answerKey(file, index), project)
	if err != nil {
		return nil, err
	}
	if c.CRD, err = r.crd(d.CRD); err != nil {
		return nil, err
	}
	c.Recorded = r.answers[answerKey("cases/"+file, index)]
	return r.withVariants(c, d.AlsoCRDs)
}

func (d *document) newCase(id, project string) (*Case, error) {
	c := &Case{
		ID: id, Project: project,
		Version: d.Version, Subresource: d.Subresource, FieldValidation: d.FieldValidation, Ratcheting: d.Ratcheting,
		Expect: d.Expect, ErrorContains: d.ErrorContains, ErrorIgnoreCase: d.ErrorIgnoreCase,
	}
	for _, object := range []struct {
		json json.RawMessage
		into *map[string]any
	}{{d.Object, &c.Object}, {d.OldObject, &c.OldObject}, {d.ExpectObject, &c.ExpectObject}} {
		if len(object.json) == 0 || string(object.json) == "null" {
			continue
		}
		decoded, err := engine.Decode(object.json)
		if err != nil {
			return nil, err
		}
		*object.into = decoded
	}
	if c.Object == nil {
		return nil, errors.New("no object")
	}
	dropServerMetadata(c.Object)
	return c, nil
}

// dropServerMetadata removes metadata that was recorded from another server and that this server
// would reject because it conflicts with its own, or would keep (managedFields).
func dropServerMetadata(object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(metadata, key)
	}
}

// If a CRD cannot be read, withVariants returns an error and the remaining cases.
func (r *reader) withVariants(c *Case, also []string) (out []*Case, err error) {
	out = []*Case{c}
	for _, path := range also {
		crd, unreadable := r.crd(path)
		if unreadable != nil {
			err = errors.Join(err, unreadable)
			continue
		}
		if crd == c.CRD {
			continue
		}
		v := *c
		v.ID, v.CRD, v.Variant, v.Recorded = c.ID+"@"+crd.variant(), crd, true, nil
		out = append(out, &v)
	}
	return out, err
}

func (r *reader) crd(path string) (*CRD, error) {
	if crd := r.crds[path]; crd != nil {
		return crd, nil
	}
	crd, err := ReadCRD(filepath.Join(r.dir, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	r.crds[path] = crd
	return crd, nil
}

// recordedAnswer is a line of answers/*.jsonl.
type recordedAnswer struct {
	File      string          `json:"file"`
	Index     int             `json:"index"`
	Verdict   string          `json:"verdict"`
	Message   string          `json:"message"`
	Causes    []Cause         `json:"causes"`
	Persisted json.RawMessage `json:"persisted"`
}

func answerKey(file string, index int) string { return fmt.Sprintf("%s#%d", file, index) }

func (r *reader) readAnswers() error {
	files, err := filepath.Glob(filepath.Join(r.dir, "answers", "*.jsonl"))
	if err != nil {
		return err
	}
	for _, file := range files {
		err := eachLine(file, func(line []byte) error {
			var a recordedAnswer
			if err := json.Unmarshal(line, &a); err != nil {
				return err
			}
			answer, err := a.answer()
			r.answers[answerKey(a.File, a.Index)] = answer
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func (a *recordedAnswer) answer() (*Answer, error) {
	out := &Answer{Allowed: a.Verdict == "valid", Message: withoutClock(a.Message)}
	for _, c := range a.Causes {
		c.Message = withoutClock(c.Message)
		out.Causes = append(out.Causes, c)
	}
	if len(a.Persisted) == 0 {
		return out, nil
	}
	var err error
	out.Object, err = engine.Decode(a.Persisted)
	return out, err
}

func eachLine(file string, do func([]byte) error) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := do(line); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}

// Add adds the cases of another corpus. A case whose ID is already taken gets a numbered ID, so
// that it does not hide the other case.
func (c *Corpus) Add(other *Corpus) {
	taken := map[string]bool{}
	for _, x := range c.Cases {
		taken[x.ID] = true
	}
	for _, x := range other.Cases {
		id := x.ID
		for n := 2; taken[x.ID]; n++ {
			x.ID = fmt.Sprintf("%s~%d", id, n)
		}
		taken[x.ID] = true
		c.Cases = append(c.Cases, x)
	}
	maps.Copy(c.Unreadable, other.Unreadable)
}
