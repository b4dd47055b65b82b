// Command kubectl-validate implements the protocol of the conformance suite with the library of kubectl-validate.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/kubectl-validate/pkg/openapiclient"
	"sigs.k8s.io/kubectl-validate/pkg/validator"

	"github.com/celadon-cel/celadon/conformance/scoreboard/kubectl-validate/protocol"
)

func main() {
	// The library has the code of Kubernetes 1.30.
	protocol.Serve(protocol.Answer{Name: "kubectl-validate", Levels: []string{"verdict", "causes"}, Minors: []string{"1.30"}}, decide)
}

func decide(dir string, req *protocol.Request) (*protocol.Answer, error) {
	if req.OldObject != nil || req.Subresource != "" || req.FieldValidation == "Warn" {
		return nil, fmt.Errorf("%w: updates, subresources, and warnings", protocol.ErrUnsupported)
	}
	if err := os.WriteFile(filepath.Join(dir, "crd.json"), req.CRD, 0o600); err != nil {
		return nil, err
	}
	v, err := validator.New(openapiclient.NewLocalCRDFiles(os.DirFS(dir)))
	if err != nil {
		return nil, err
	}
	_, obj, err := v.Parse(req.Object)
	if err == nil {
		err = v.Validate(obj)
	}
	r := &protocol.Answer{Allowed: err == nil, Code: 201}
	if err == nil {
		return r, nil
	}
	r.Code = 400
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		r.Message = err.Error()
		return r, nil
	}
	r.Code = int(status.ErrStatus.Code)
	if details := status.ErrStatus.Details; details != nil {
		for _, c := range details.Causes {
			r.Causes = append(r.Causes, protocol.Cause{Reason: string(c.Type), Field: c.Field, Message: c.Message})
		}
	}
	return r, nil
}
