package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"unicode"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// An Oracle is a running program that validates with the libraries of a Kubernetes minor version.
type Oracle struct {
	command *exec.Cmd
	input   io.WriteCloser
	encoder *json.Encoder
	decoder *json.Decoder
}

// StartOracle starts the program of an executable file.
func StartOracle(path string) (*Oracle, error) {
	o := &Oracle{command: exec.Command(path)} // stderr is the log of the libraries
	var err error
	if o.input, err = o.command.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := o.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.encoder, o.decoder = json.NewEncoder(o.input), json.NewDecoder(output)
	return o, o.command.Start()
}

// Close stops the program.
func (o *Oracle) Close() error {
	if err := o.input.Close(); err != nil {
		return err
	}
	return o.command.Wait()
}

// Requests and responses have the format of command oracle.
type request struct {
	CRD         json.RawMessage `json:"crd"`
	Version     string          `json:"version,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
	Object      json.RawMessage `json:"object,omitempty"`
	Old         json.RawMessage `json:"old,omitempty"`
}

type answer struct {
	Error, Panic string
	CRD          *crdAnswer
	Write        *writeAnswer
}

type fieldError struct{ Type, Field, Message string }

type crdAnswer struct {
	Errors   []fieldError
	Warnings []string
	Versions []struct {
		Name  string
		Rules []struct {
			Path                                         string
			Index                                        int
			Estimate, MessageEstimate, Cardinality, Cost uint64
			Bound                                        *uint64
			Error, MessageError                          string
		}
	}
}

type writeAnswer struct {
	Accepted      bool
	Code          int
	Message       string
	Causes        []fieldError
	Warnings      []string
	UnknownFields []string
	Cost          *int64
	Persisted     json.RawMessage
}

// failure is the verdict if the libraries panic or cannot read the request.
func (o *Oracle) answer(req *request) (a *answer, failure Verdict, err error) {
	if err := o.encoder.Encode(req); err != nil {
		return nil, nil, err
	}
	a = &answer{}
	if err := o.decoder.Decode(a); err != nil {
		return nil, nil, err
	}
	switch {
	case a.Panic != "":
		return nil, Verdict{panics: {"yes"}}, nil
	case a.Error != "":
		return nil, Verdict{unreadable: {withoutChance(a.Error)}}, nil
	}
	return a, nil, nil
}

// CRD returns the libraries' verdict on a new CRD.
func (o *Oracle) CRD(crd json.RawMessage) (Verdict, error) {
	a, failure, err := o.answer(&request{CRD: crd})
	if err != nil || failure != nil {
		return failure, err
	}
	return a.CRD.verdict(), nil
}

func (a *crdAnswer) verdict() Verdict {
	v := Verdict{}
	for _, e := range a.Errors {
		v.add(crdError, errorLine(e.Type, e.Field, e.Message))
	}
	for _, w := range sent(a.Warnings) {
		v.add(warning, w)
	}
	for _, version := range a.Versions {
		for _, r := range version.Rules {
			line := ruleLine{
				version: version.Name, path: r.Path, index: r.Index, estimate: r.Estimate, times: r.Cardinality, total: r.Cost,
				message: r.MessageEstimate, broken: r.Error != "" || r.MessageError != "",
			}
			if r.Bound != nil {
				line.times = *r.Bound
			}
			v.add(rule, line.String())
		}
	}
	return v.sorted()
}

// Write returns the libraries' verdict on a write.
func (o *Oracle) Write(w *Write) (Verdict, error) {
	a, failure, err := o.answer(&request{CRD: w.CRD, Version: w.Version, Subresource: w.Subresource, Object: w.Object, Old: w.Old})
	if err != nil || failure != nil {
		return failure, err
	}
	return a.Write.verdict()
}

func (a *writeAnswer) verdict() (Verdict, error) {
	v := Verdict{code: {strconv.Itoa(a.Code)}}
	for _, c := range a.Causes {
		v.add(cause, errorLine(c.Type, c.Field, c.Message))
	}
	for _, w := range sent(a.Warnings) {
		v.add(warning, w)
	}
	for _, path := range a.UnknownFields {
		v.add(unknown, path)
	}
	if a.Cost != nil {
		v.add(runCost, strconv.FormatInt(*a.Cost, 10))
	}
	if a.Accepted {
		var obj map[string]any
		if err := utiljson.Unmarshal(a.Persisted, &obj); err != nil {
			return nil, err
		}
		line, err := objectLine(obj)
		if err != nil {
			return nil, err
		}
		v[persisted] = []string{line}
	}
	return v.sorted(), nil
}

func sent(warnings []string) (all []string) {
	for _, w := range warnings {
		if !slices.Contains(all, w) && !strings.ContainsFunc(w, unicode.IsControl) {
			all = append(all, w)
		}
	}
	return all
}

// Shuffled returns up to n more verdicts on a write, with other orders of the keys of its objects.
// The iteration order of a small Go map depends on how it was built. Shuffled stops early if until
// returns true for the verdicts so far.
func (o *Oracle) Shuffled(w *Write, n int, until func([]Verdict) bool) (all []Verdict, err error) {
	order := rand.New(rand.NewPCG(1, uint64(len(w.Object))))
	for range n {
		again := *w
		if again.Object, err = shuffled(w.Object, order); err != nil {
			return nil, err
		}
		if again.Old, err = shuffled(w.Old, order); err != nil {
			return nil, err
		}
		v, err := o.Write(&again)
		if err != nil {
			return nil, err
		}
		if all = append(all, v); until(all) {
			break
		}
	}
	return all, nil
}

func shuffled(data json.RawMessage, order *rand.Rand) (json.RawMessage, error) {
	if data == nil {
		return nil, nil
	}
	switch data[0] {
	case '{':
		return shuffledObject(data, order)
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, err
		}
		for i := range list {
			var err error
			if list[i], err = shuffled(list[i], order); err != nil {
				return nil, err
			}
		}
		return json.Marshal(list)
	}
	return data, nil
}

func shuffledObject(data json.RawMessage, order *rand.Rand) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	order.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	out := []byte{'{'}
	for i, name := range names {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := shuffled(fields[name], order)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}
