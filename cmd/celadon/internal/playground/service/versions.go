package service

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/types"
)

type kubeVersion struct {
	Version string       `json:"version"`
	CRDs    []versionCRD `json:"crds"`
	// Objects are the verdicts on the objects, in the order of the report of check.
	Objects []versionObject `json:"objects"`
}

type versionCRD struct {
	finding.KubeVersion
	Name  string        `json:"name"`
	Rules []versionRule `json:"rules"`
}

type versionRule struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Total   uint64 `json:"total"`
	Broken  bool   `json:"broken,omitempty"`
}

type versionObject struct {
	Verdict string `json:"verdict"`
	// Message is the first cause of a rejection, or the reason for a missing verdict.
	Message string `json:"message,omitempty"`
	Cost    int64  `json:"cost"`
}

func (r *Service) versions(ctx context.Context, req *Request) (any, error) {
	all := *req
	all.KubeVersion = ""
	crds, _, err := vetText(ctx, &all)
	if err != nil {
		return nil, err
	}
	list := []kubeVersion{}
	for i, v := range types.Released() {
		one := kubeVersion{Version: v.String(), CRDs: []versionCRD{}, Objects: []versionObject{}}
		for _, vetted := range crds {
			report := vetted.Report
			if report == nil || i >= len(report.KubeVersions) {
				continue
			}
			of := &report.KubeVersions[i]
			crd := versionCRD{KubeVersion: finding.NewKubeVersion(*of), Name: report.Name, Rules: []versionRule{}}
			for _, e := range of.Rules {
				crd.Rules = append(crd.Rules, versionRule(e))
			}
			one.CRDs = append(one.CRDs, crd)
		}
		all.KubeVersion = v.String()
		checked, err := New().checked(ctx, &all) // so that r keeps its CRDs
		if err != nil {
			return nil, err
		}
		for j := range checked.Objects {
			o := checked.Objects[j].Object
			object := versionObject{Verdict: o.Verdict, Message: o.Problem, Cost: o.Cost}
			if len(o.Causes) > 0 {
				object.Message = fmt.Sprintf("%s: %s", o.Causes[0].Field, o.Causes[0].Message)
			}
			one.Objects = append(one.Objects, object)
		}
		list = append(list, one)
	}
	return map[string]any{"versions": list}, nil
}
