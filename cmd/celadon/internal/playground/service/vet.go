package service

import (
	"context"
	"encoding/json"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/vet"
	enginevet "github.com/celadon-cel/celadon/engine/vet"
)

// vetted is the response to vet.
type vetted struct {
	// Report is the output of celadon vet -o json.
	Report json.RawMessage `json:"report"`
	// Kubectl holds the message that kubectl would print for each rejected CRD.
	Kubectl []string `json:"kubectl"`
	// Positions holds the positions of rules and advice.
	Positions []vet.Position `json:"places"`
	// Problems are the reasons for a missing verdict, or for a rejection without causes.
	Problems []vet.Problem `json:"problems"`
	// Points holds, for each CRD of the report, the reasons in the messages of its causes. A reason is "" if the
	// editor leaves out the error, because another error has the same cause.
	Points [][]string `json:"points"`
	// Notes are remarks on CRDs that are not wrong: a CRD has no rules.
	Notes []vet.Problem `json:"notes"`
}

func vetText(ctx context.Context, req *Request) (*vet.Vetted, error) {
	return vet.Text(ctx, input.Text{File: CRDFile, Data: []byte(req.CRD)}, req.KubeVersion)
}

func (r *Service) vet(ctx context.Context, req *Request) (any, error) {
	all, err := vetText(ctx, req)
	if err != nil {
		return nil, err
	}
	points, err := pointsOf(all.Report)
	if err != nil {
		return nil, err
	}
	return &vetted{all.Report, all.Rejections, all.Positions, located(all.Problems, req.CRD), points, r.withoutRules(req.CRD)}, nil
}

// fix returns the text of the CRD with one or all of the advised bounds set.
func (r *Service) fix(ctx context.Context, req *Request) (any, error) {
	all, err := vetText(ctx, req)
	if err != nil {
		return nil, err
	}
	text, err := all.Fixed(func(crd, version string, a enginevet.Advice) bool {
		return req.Set == "" || crd == req.Of && version == req.Version && a.Path == req.Path && a.Set == req.Set
	})
	if err != nil {
		return nil, err
	}
	return &struct {
		CRD string `json:"crd"`
	}{string(text)}, nil
}
