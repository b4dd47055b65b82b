package conformance

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

// converted is a CRD with a conversion webhook, served by the real server, and an engine that calls
// the same webhook.
type converted struct {
	*Resource
	engine *engine.Engine
}

func serveConverted(t *testing.T, s *Server, crd *apiextensionsv1.CustomResourceDefinition, h http.Handler) *converted {
	t.Helper()
	hook := httptest.NewUnstartedServer(h)
	hook.Config.ErrorLog = log.New(io.Discard, "", 0) // some handlers panic on purpose
	hook.StartTLS()
	t.Cleanup(hook.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	client := crd.Spec.Conversion.Webhook.ClientConfig
	client.URL, client.CABundle = ptr.To(hook.URL+"/convert"), ca

	converter, err := conversion.Webhook{URL: *client.URL, CA: ca}.Converter()
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{Converter: converter})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Serve(t.Context(), crd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, r) })
	return &converted{Resource: r, engine: e}
}

func convertedCRD(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

type reviewed struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Request    struct {
		UID               string           `json:"uid"`
		DesiredAPIVersion string           `json:"desiredAPIVersion"`
		Objects           []map[string]any `json:"objects"`
	} `json:"request"`
}

func (r *reviewed) fine(objects ...any) map[string]any {
	return map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind, "response": map[string]any{
		"uid": r.Request.UID, "convertedObjects": objects, "result": map[string]any{"status": "Success"},
	}}
}

func answering(t *testing.T, answer func(w http.ResponseWriter, req *http.Request, r *reviewed)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r := &reviewed{}
		body, err := io.ReadAll(req.Body)
		if err == nil && len(body) > 0 { // a redirect may drop the body
			err = json.Unmarshal(body, r)
		}
		if err != nil {
			t.Error(err)
		}
		answer(w, req, r)
	})
}

func writeJSON(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }
