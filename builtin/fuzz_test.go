package builtin_test

import (
	"errors"
	"testing"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/engine"
)

func FuzzValidate(f *testing.F) {
	for _, seed := range []string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"b"}}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"a-"},"spec":{"containers":[{"name":"a","image":"a"}]}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}}}}`,
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, update bool) {
		object, err := engine.Decode(data)
		if err != nil {
			return
		}
		req := builtin.Request{Object: object, Raw: data, FieldValidation: "Strict"}
		if update {
			req.OldObject = object
		}
		res, err := builtin.Validate(t.Context(), req)
		var internal *engine.InternalError
		if errors.As(err, &internal) {
			t.Fatalf("%v\n%s", err, internal.Stack)
		}
		if err == nil && res.Allowed == (res.Failure != nil) {
			t.Errorf("allowed: %v, failure: %v", res.Allowed, res.Failure)
		}
	})
}
