package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	libraries "github.com/celadon-cel/celadon/conformance/minors/compare"
	"github.com/celadon-cel/celadon/conformance/suite"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// ignoreUnknown is the field validation of writes that the libraries can validate, because unknown
// fields are reported by a part of the server that they do not have.
const ignoreUnknown = "Ignore"

// stableAnswers is the number of repetitions of a write. Generated writes whose responses vary are
// left out.
const stableAnswers = 3

// maxRepeatedCost limits the cost of the writes that are repeated, because expensive ones take seconds.
const maxRepeatedCost = 100_000

// stoppedCost is the cost that the libraries return if they stop evaluating rules because of a limit.
// It is left out of the suite.
const stoppedCost = celconfig.RuntimeCELCostBudget + 1

type suiteRecorder struct {
	newest  string
	oracles map[string]*suiteOracle
	// served holds the server's responses by ID.
	served map[string]*suite.Response
}

var errVaries = errors.New("the answer varies")

func (r *suiteRecorder) serveInputs(ctx context.Context, s *Server, inputs []*suiteInput) error {
	byCRD := map[string][]*suiteInput{}
	for _, in := range inputs {
		byCRD[in.crdID] = append(byCRD[in.crdID], in)
	}
	names := slices.Sorted(maps.Keys(byCRD))
	answers, errs := make([]map[string]*suite.Response, len(names)), make([]error, len(names))
	each(ownAtOnce, numbered(names), func(n int) { answers[n], errs[n] = s.serveSuite(ctx, byCRD[names[n]]) })
	r.served = map[string]*suite.Response{}
	for _, a := range answers {
		maps.Copy(r.served, a)
	}
	return errors.Join(errs...)
}

// serveSuite returns no responses if the server rejects a generated CRD.
func (s *Server) serveSuite(ctx context.Context, inputs []*suiteInput) (map[string]*suite.Response, error) {
	crd := inputs[0].crd
	r, err := s.Serve(ctx, crd)
	if err != nil {
		if inputs[0].group == generatedGroup {
			return nil, nil
		}
		return nil, fmt.Errorf("%s: %w", inputs[0].crdID, err)
	}
	out := map[string]*suite.Response{}
	for i, in := range inputs {
		c := &Case{
			ID: in.id, CRD: &CRD{Definition: crd}, Version: in.version, Subresource: in.write.Subresource,
			FieldValidation: in.fieldValidation(), Object: in.write.Object, OldObject: in.write.Old,
		}
		t, err := r.try(ctx, c, fmt.Sprintf("case-%d", i))
		if errors.Is(err, errOldRejected) && in.group == generatedGroup {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.id, err)
		}
		if r.namespaced() && t.answer.Object != nil {
			t.answer.Object = inNamespace(t.answer.Object, namespaceOf(in.write.Object))
		}
		if out[in.id], err = responseOf(t.answer); err != nil {
			return nil, err
		}
	}
	return out, r.Remove(ctx)
}

func (in *suiteInput) fieldValidation() string {
	return cmp.Or(in.write.FieldValidation, ignoreUnknown)
}

func responseOf(a Answer) (*suite.Response, error) {
	out := &suite.Response{Allowed: a.Allowed, Code: a.Code, Warnings: slices.Sorted(slices.Values(a.Warnings))}
	for _, c := range sortedCauses(a.Causes) {
		out.Causes = append(out.Causes, suite.Cause(c))
	}
	if len(a.Causes) == 0 {
		out.Message = a.Message
	}
	if a.Object == nil {
		return out, nil
	}
	var err error
	out.Object, err = withoutMetadata(a.Object, chosenByServer)
	return out, err
}

// libraries omits minor versions whose libraries reject the CRD or cannot decode the object.
func (r *suiteRecorder) libraries(in *suiteInput) (map[string]*suite.Response, error) {
	w, err := libraries.NewWrite(in.crd, in.version, in.write.Subresource, in.write.Object, in.write.Old)
	if err != nil {
		return nil, err
	}
	minors := slices.Sorted(maps.Keys(r.oracles))
	responses, errs := make([]*suite.Response, len(minors)), make([]error, len(minors))
	each(len(minors), numbered(minors), func(n int) {
		responses[n], errs[n] = r.oracles[minors[n]].response(in, w)
	})
	out := map[string]*suite.Response{}
	for n, minor := range minors {
		if responses[n] != nil {
			out[minor] = responses[n]
		}
	}
	return out, errors.Join(errs...)
}

type suiteOracle struct {
	*libraries.Oracle
	accepts map[string]bool
}

// response returns nil if the libraries reject the CRD or cannot decode the object.
func (o *suiteOracle) response(in *suiteInput, w *libraries.Write) (*suite.Response, error) {
	if _, ok := o.accepts[in.crdID]; !ok {
		var err error
		if o.accepts[in.crdID], err = o.Accepts(w.CRD); err != nil {
			return nil, err
		}
	}
	if !o.accepts[in.crdID] {
		return nil, nil
	}
	a, err := o.Answer(w)
	if err != nil || a == nil {
		return nil, err
	}
	if a.Cost == nil || *a.Cost < maxRepeatedCost {
		if err := isStable(o.Oracle, w); err != nil {
			return nil, err
		}
	}
	return responseOfLibrary(a)
}

// isStable returns errVaries if the libraries return another result for other orders of keys.
func isStable(o *libraries.Oracle, w *libraries.Write) error {
	first, err := o.Write(w)
	if err != nil {
		return err
	}
	varies := false
	_, err = o.Shuffled(w, stableAnswers, func(more []libraries.Verdict) bool {
		varies = !reflect.DeepEqual(more[len(more)-1], first)
		return varies
	})
	if err == nil && varies {
		err = errVaries
	}
	return err
}

func responseOfLibrary(a *libraries.WriteAnswer) (*suite.Response, error) {
	answer := Answer{Allowed: a.Accepted, Code: a.Code, Message: a.Message, Warnings: libraries.Sent(a.Warnings)}
	for _, c := range a.Causes {
		if libraries.Random(c.Message) {
			return nil, errVaries
		}
		answer.Causes = append(answer.Causes, Cause{c.Type, c.Field, c.Message})
	}
	if a.Accepted {
		var err error
		if answer.Object, err = engine.Decode(a.Persisted); err != nil {
			return nil, err
		}
	}
	out, err := responseOf(answer)
	if err == nil && a.Cost != nil && *a.Cost < stoppedCost {
		out.Cost = a.Cost
	}
	return out, err
}

// answers returns errVaries if the server and the libraries of the newest minor version disagree.
func (r *suiteRecorder) answers(in *suiteInput) (map[string]*suite.Response, error) {
	out := map[string]*suite.Response{}
	if in.fieldValidation() == ignoreUnknown {
		var err error
		if out, err = r.libraries(in); err != nil {
			return nil, err
		}
	}
	served := r.served[in.id]
	if served == nil {
		delete(out, r.newest)
		return out, nil
	}
	complete := *served
	if library := out[r.newest]; library != nil {
		complete.Cost = library.Cost
		if a, b := encoded(&complete), encoded(library); !bytes.Equal(a, b) {
			return nil, fmt.Errorf("%w: server %s, library %s", errVaries, a, b)
		}
	}
	out[r.newest] = &complete
	return out, nil
}

func suiteCase(in *suiteInput, answers map[string]*suite.Response) (*suite.Case, error) {
	c := &suite.Case{ID: in.id, Group: in.group, CRD: in.crdID, Write: suite.Write{
		Version: in.version, Subresource: in.write.Subresource, FieldValidation: in.fieldValidation(), Object: encoded(in.write.Object),
	}}
	if in.write.Old != nil {
		c.OldObject = encoded(in.write.Old)
	}
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		name := types.Version{Minor: minor}.String()
		a := answers[name]
		if a == nil {
			continue
		}
		i := slices.IndexFunc(c.Answers, func(e suite.Expected) bool { return bytes.Equal(encoded(e.Response), encoded(a)) })
		if i < 0 {
			i = len(c.Answers)
			c.Answers = append(c.Answers, suite.Expected{Response: *a})
		}
		c.Answers[i].Minors = append(c.Answers[i].Minors, name)
	}
	return c, nil
}

func encoded(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // v consists of JSON types
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func encodeSuite(s *suite.Suite) map[string][]byte {
	head, err := json.MarshalIndent(&s.Head, "", "  ")
	if err != nil {
		panic(err) // it consists of strings and numbers
	}
	var crds, cases bytes.Buffer
	for _, c := range s.CRDs {
		fmt.Fprintf(&crds, "%s\n", encoded(c))
	}
	for _, c := range s.Cases {
		fmt.Fprintf(&cases, "%s\n", encoded(c))
	}
	return map[string][]byte{
		filepath.Join(suiteFolder, "suite.json"):  append(head, '\n'),
		filepath.Join(suiteFolder, "crds.jsonl"):  crds.Bytes(),
		filepath.Join(suiteFolder, "cases.jsonl"): cases.Bytes(),
	}
}

func (in *suiteInput) withoutStatus() ([]byte, error) {
	crd, err := engine.Decode(encoded(in.crd)) // numbers keep their values
	if err != nil {
		return nil, err
	}
	delete(crd, "status")
	if metadata := metadataOf(crd); metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp")
	}
	return encoded(crd), nil
}
