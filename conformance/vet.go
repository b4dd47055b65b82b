package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
)

// vetCase is a write of a CRD: a create, or an update of old.
type vetCase struct {
	id, name string
	body     []byte // JSON
	old      *apiextensionsv1.CustomResourceDefinition
}

func (c *vetCase) update() bool { return c.old != nil }

// Cases for the same CRD name are serialized, because the old CRD is in etcd meanwhile.
func (s *Server) sweepCRDs(ctx context.Context, cases []*vetCase, report *Report) {
	byName := map[string][]*vetCase{}
	for _, c := range cases {
		byName[c.name] = append(byName[c.name], c)
	}
	var chains [][]*vetCase
	for _, chain := range byName {
		chains = append(chains, chain)
	}
	slices.SortFunc(chains, func(a, b []*vetCase) int { return strings.Compare(a[0].name, b[0].name) })
	each(crdsAtOnce, chains, func(chain []*vetCase) {
		for _, c := range chain {
			s.sweepCRD(ctx, c, report)
		}
	})
}

func (s *Server) sweepCRD(ctx context.Context, c *vetCase, report *Report) {
	right, err := s.decideCRD(ctx, c)
	if err != nil {
		report.Error(c.id, err)
		return
	}
	ours, err := vetCRD(ctx, c, s.kubeVersion)
	if err != nil {
		report.Error(c.id, err)
		return
	}
	for range right.Causes {
		report.Note("causes in all")
	}
	report.Note(fmt.Sprintf("%ss that the server answers with %d", c.operation(), right.Code))
	report.Add(c.id, compare(withoutChance(right), withoutChance(ours), aspects{code: true, warnings: true})...)
}

func (c *vetCase) operation() string {
	if c.update() {
		return "update"
	}
	return "create"
}

// conflictsAtMost is the maximum number of conflicts with controllers that write to a CRD during
// its update.
const conflictsAtMost = 20

// decideCRD writes the old CRD, if any, to etcd directly, and sends the new one as a dry run.
func (s *Server) decideCRD(ctx context.Context, c *vetCase) (Answer, error) {
	const path, query = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "?dryRun=All&fieldValidation=Strict"
	if !c.update() {
		return parseCRDResponse(s.do(ctx, http.MethodPost, path+query, c.body))
	}
	stored, err := json.Marshal(asEstablished(c.old))
	if err != nil {
		return Answer{}, err
	}
	if s.kubeVersion == "1.29" { // it removes the field from new CRDs, but keeps it if the old one has it
		stored = optionalOldSelf.ReplaceAll(stored, nil)
	}
	key := crdKey(c.old.Name)
	if _, err := s.store.Put(ctx, key, string(stored)); err != nil {
		return Answer{}, err
	}
	defer s.store.Delete(context.WithoutCancel(ctx), key)
	for range conflictsAtMost {
		body, err := s.atRevision(ctx, key, c.body)
		if err != nil {
			return Answer{}, err
		}
		r, err := s.do(ctx, http.MethodPut, path+"/"+c.old.Name+query, body)
		if err != nil || r.code != http.StatusConflict {
			return parseCRDResponse(r, err)
		}
	}
	return Answer{}, errors.New("the old CRD does not come to rest")
}

// optionalOldSelf matches the field of a rule, which is its last one.
var optionalOldSelf = regexp.MustCompile(`,"optionalOldSelf":(true|false)`)

func (s *Server) atRevision(ctx context.Context, key string, body []byte) ([]byte, error) {
	current, err := s.store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	if len(current.Kvs) == 0 {
		return nil, errors.New("the old CRD is not in etcd")
	}
	crd, err := engine.Decode(body) // preserves integers, because defaults can be large
	if err != nil {
		return nil, err
	}
	metadata, ok := crd["metadata"].(map[string]any)
	if !ok {
		return nil, errors.New("no metadata")
	}
	metadata["resourceVersion"] = strconv.FormatInt(current.Kvs[0].ModRevision, 10)
	return json.Marshal(crd)
}

// A panic of the server, which aborts the response, counts as a response with code 500.
func parseCRDResponse(r *response, err error) (Answer, error) {
	if panicked(err) {
		return Answer{Code: http.StatusInternalServerError}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	a, err := parseResponse(r)
	a.Object = nil // vet does not return the stored object
	return a, err
}

func panicked(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "INTERNAL_ERROR; received from peer")
}

func vetCRD(ctx context.Context, c *vetCase, kubeVersion string) (Answer, error) {
	r, err := vet.Vet(ctx, c.body, vet.Config{KubeVersion: kubeVersion, Old: c.old, VerdictOnly: true})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Allowed: r.Accepted, Code: http.StatusCreated, Warnings: r.Warnings}
	if c.update() {
		a.Code = http.StatusOK
	}
	if r.Status == nil {
		return a, nil
	}
	if a.Code = int(r.Status.Code); a.Code == http.StatusInternalServerError {
		return a, nil
	}
	a.reject(r.Status)
	var own []Cause
	for _, c := range r.Causes {
		own = append(own, Cause{string(c.Reason), c.Field, withoutClock(c.Message)})
	}
	// Report.Status has the causes in the form of the server's status, Causes in the form of
	// Celadon's API. Both must have the same content.
	if !slices.Equal(sortedCauses(own), sortedCauses(a.Causes)) {
		a.Causes = append(a.Causes, Cause{"InconsistentReport", "", fmt.Sprintf("Report.Causes: %q", own)})
	}
	return a, nil
}

// withoutChance removes the fields that the server reports for an exceeded cost total. Among
// equally expensive rules it picks them at random.
func withoutChance(a Answer) Answer {
	a.Causes = slices.Clone(a.Causes)
	for i := range a.Causes {
		if strings.HasSuffix(a.Causes[i].Message, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema") {
			a.Causes[i].Field = ""
		}
	}
	return a
}
