package service_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

func FuzzAnswer(f *testing.F) {
	f.Add(secretCRD, "apiVersion: example.com/v1\nkind: Login\nmetadata: {name: a}\nspec: {user: b, token: b}\n", "", 700)
	f.Add(secretCRD+"---\n"+secretCRD, "{}\n---\na: [", "\xff", -1)
	f.Add(strings.Replace(secretCRD, "self.user != self.token", "self.üser 😀 = self.", 1), "a: &a [*a]", "- a", len(secretCRD))
	f.Add("a: [", "kind: List\nitems: [1, {}]\n", "---\n---", 3)
	f.Fuzz(func(t *testing.T, crd, object, old string, at int) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // detects a hang
		defer cancel()
		r := service.New()
		for _, do := range []string{"check", "vet", "fix", "trace", "share", "complete", "hover", "mends", "find", "versions", "eval"} {
			question, err := json.Marshal(service.Request{Do: do, CRD: crd, Object: object, Old: old, At: at, Version: "v1", Path: "spec", Want: "refused", Steps: 20})
			if err != nil {
				t.Fatal(err)
			}
			var reply map[string]any
			if err := json.Unmarshal(r.Answer(ctx, question), &reply); err != nil || len(reply) != 1 {
				t.Fatalf("%s: %v %v", do, err, reply)
			}
			if text, _ := reply["error"].(string); strings.Contains(text, "internal error, please report it") {
				t.Errorf("%s: %s", do, text)
			}
		}
	})
}
